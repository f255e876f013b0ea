"""Bytes of a file as C++, for the scripts that build files into a program."""


def numbers(data):
    """The elements of a char array, as signed numbers: compilers need not take string literals of this length."""
    signed = [str(byte - 256 if byte > 127 else byte) for byte in data] or ["0"]
    return ",\n    ".join(",".join(signed[i:i + 32]) for i in range(0, len(signed), 32))
