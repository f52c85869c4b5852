"""Old place of `sapp_core.documents.parse`."""

from sapp_core.documents.parse import MAX_BYTES, parse_document

__all__ = ["MAX_BYTES", "parse_document"]
