"""A large text file read piece by piece, in bounded memory; gzip is unpacked on the way."""

import codecs
import gzip
import zlib
from collections.abc import Callable, Iterator
from io import SEEK_END
from typing import BinaryIO

from sapp_core.documents.report import Report

MAX_UNPACKED_BYTES = 2**30
"""Of a compressed file: 1 GB of text packs into 1 MB when it is made to harm."""

PIECE_BYTES = 2**20
_GZIP = b"\x1f\x8b"


def size_of(stream: BinaryIO) -> int:
    """Bytes of a stream that can be rewound; it stands at its beginning afterwards."""
    size = stream.seek(0, SEEK_END)
    stream.seek(0)
    return size


def text_pieces(stream: BinaryIO, report: Report, told: Callable[[int], None] | None = None) -> Iterator[str]:
    """Pieces of a text of about 1 MB, in order.

    What is no UTF-8 becomes U+FFFD: profilers write names of kernels byte by byte. A gzip file that ends too early ends
    the text as well, and whoever reads the text sees that it does.

    Args:
        stream: at its beginning; it can be rewound.
        report: of the file.
        told: takes the bytes of the stream that have been read, before each piece.

    Raises:
        SappError: of the report; a gzip file is broken or unpacks to more than 1 GB.
    """
    is_packed = stream.read(len(_GZIP)) == _GZIP
    stream.seek(0)
    # Several reads at once would lose what was unpacked before the end of a file that is cut off.
    read = gzip.GzipFile(fileobj=stream).read1 if is_packed else stream.read
    decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
    unpacked = 0
    while True:
        if told:
            told(stream.tell())
        data = _piece(read, report, is_first=not unpacked)
        unpacked += len(data)
        if is_packed and unpacked > MAX_UNPACKED_BYTES:
            report.stop("", f"must not unpack to more than {MAX_UNPACKED_BYTES / 2**30:g} GB; trace fewer steps.")
        yield decoder.decode(data, final=not data)
        if not data:
            return


def _piece(read: Callable[[int], bytes], report: Report, *, is_first: bool) -> bytes:
    try:
        return read(PIECE_BYTES)
    except EOFError:
        if is_first:
            report.stop("", "is a gzip file that is cut off before its text begins; pack it again.")
        return b""
    except (gzip.BadGzipFile, zlib.error):
        report.stop("", "is a broken gzip file; pack it again, or unpack it first.")
