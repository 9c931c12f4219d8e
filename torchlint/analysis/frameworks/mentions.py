"""The words of files that have to do with torch or a framework.

They are apart from the adapters because every check asks for them, also one that reads nothing
anew and should start at once.
"""

MENTIONS = (b"torch", b"lightning", b"accelerate", b".backward(")
