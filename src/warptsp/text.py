"""Text of others, as a terminal may show it and as files can hold it."""

import re

# Control characters (C0, C1, DEL), what turns the direction of writing, ends lines or is invisible by design,
# and halves of surrogate pairs. Joiners (U+200C, U+200D) stay: Persian names and emoji need them.
_UNSHOWN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
# Half of a pair, or a run of those that stand for bytes in names of files (PEP 383).
_SURROGATES = re.compile("[\udc80-\udcff]+|[\ud800-\udfff]")
_BYTES = range(0xDC80, 0xDD00)


def printable(text: str) -> str:
    r"""Return a text that does nothing to a terminal or a log but stand on one line of it.

    >>> print(printable("\x1b]0;a title\x07 caf\udce9.csv"))
    \x1b]0;a title\x07 caf\xe9.csv
    """
    return _UNSHOWN.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    if found[0].isspace():
        return " "
    code = ord(found[0])
    # By number, as by name the compiler has to import a module, and a signal meanwhile becomes a SyntaxError.
    if code in _BYTES:
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def well_formed(text: str) -> str:
    """Return a text that UTF-8 can hold: bytes of file names as UTF-8 or Latin-1, other surrogates as U+FFFD.

    >>> well_formed("caf\\udce9 \\udcc3\\udca9 \\ud800")
    'café é �'
    """
    return text if text.isascii() else _SURROGATES.sub(_mended, text)


def _mended(found: re.Match[str]) -> str:
    # By number, as by name the compiler has to import a module, and a signal meanwhile becomes a SyntaxError.
    codes = [ord(half) for half in found[0]]
    if codes[0] not in _BYTES:
        return "\ufffd"
    # Where the locale has no UTF-8, also bytes that are UTF-8 come so.
    text = bytes(code - 0xDC00 for code in codes).decode(errors="surrogateescape")
    return "".join(chr(ord(char) - 0xDC00) if ord(char) in _BYTES else char for char in text)
