"""First steps: there for newcomers, gone once they were taken."""

from tests.pages.opened import Opened, profile_file

WORDS = "New here? Three steps."


def test_a_newcomer_sees_the_steps_until_they_press_balance(opened):
    assert WORDS in opened.said
    opened.at.slider(key="micro_batches").set_value(9)
    assert WORDS in opened.run().said
    assert WORDS not in opened.balance().said
    opened.at.slider(key="micro_batches").set_value(10)
    assert WORDS not in opened.run().said


def test_they_can_be_waved_off(opened):
    opened.at.button(key="guide_close").click()
    assert WORDS not in opened.run().said
    opened.upload(profile_file())
    assert WORDS not in opened.said


def test_who_came_by_a_link_sees_what_it_shows():
    assert WORDS not in Opened(profile="small32").said
