# Two commands matter: `make run` and `make test`. Each sets up what it needs, on a machine with Python 3.11, make and git.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8501

.PHONY: run test lint bench pictures clean

run: $(VENV)/run.ready
	$(BIN)/streamlit run app.py --server.port $(PORT)

test: $(VENV)/test.ready chromium lint
	$(BIN)/python -m pytest -m "not browser" -n 2 --dist worksteal
	$(BIN)/python -m pytest -m browser

lint: $(VENV)/test.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/test.ready chromium
	$(BIN)/python -m tests.benchmarks

# The pictures of the README, in docs/.
pictures: $(VENV)/test.ready chromium
	$(BIN)/python -m tests.browser.pictures

clean:
	rm -rf $(VENV)

# The stamp is touched last: an interrupted installation starts again.
$(VENV)/run.ready: requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

$(VENV)/test.ready: requirements-dev.txt requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	touch $@ $(VENV)/run.ready

# The browser tests drive the system's Chromium; Playwright's own download is not needed.
.PHONY: chromium
chromium:
	@command -v chromium >/dev/null || { \
	  sudo=$$([ "$$(id -u)" = 0 ] || echo sudo); \
	  $$sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq chromium; }
