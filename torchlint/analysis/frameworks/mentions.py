"""The words of files that have to do with torch or a framework.

They are apart from the adapters because every check asks for them, even one that finds nothing
changed, and that one should start fast.
"""

MENTIONS = (b"torch", b"lightning", b"accelerate", b".backward(")
