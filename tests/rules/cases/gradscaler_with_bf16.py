# TL505: which loss scalers have nothing to do, since all is computed in bfloat16.

# every program:
import torch

# head: a region in bfloat16
with torch.autocast("cuda", dtype=torch.bfloat16):
    loss = model(x)

# case: a scaler
scaler = torch.amp.GradScaler("cuda")  # TL505 hint unsafe
# becomes: scaler = torch.amp.GradScaler("cuda", enabled=False)

# case: a scaler that is enabled
scaler = torch.amp.GradScaler("cuda", enabled=True)  # TL505 hint unsafe
# becomes: scaler = torch.amp.GradScaler("cuda", enabled=False)

# case: a scaler that is enabled by position
scaler = torch.amp.GradScaler("cuda", 1024.0, 2.0, 0.5, 100, True)  # TL505 hint unsafe
# becomes: scaler = torch.amp.GradScaler("cuda", 1024.0, 2.0, 0.5, 100, False)

# case: a scaler by its older name
scaler = torch.cuda.amp.GradScaler()  # TL505 hint unsafe
# becomes: scaler = torch.cuda.amp.GradScaler(enabled=False)

# case: a scaler by its older name, enabled by position
scaler = torch.cuda.amp.GradScaler(1024.0, 2.0, 0.5, 100, True)  # TL505 hint unsafe
# becomes: scaler = torch.cuda.amp.GradScaler(1024.0, 2.0, 0.5, 100, False)

# case: a scaler that is off
scaler = torch.amp.GradScaler("cuda", enabled=False)

# case: an option enables it
scaler = torch.amp.GradScaler("cuda", enabled=args.scale)

# case: arguments that nobody knows
scaler = torch.amp.GradScaler(**options)

# case: another region in float16
scaler = torch.amp.GradScaler("cuda")
with torch.autocast("cuda", dtype=torch.float16):
    loss = model(x)

# case: another region whose type is chosen
scaler = torch.amp.GradScaler("cuda")
with torch.autocast("cuda", dtype=kind):
    loss = model(x)

# case: a scaler by its older name, and another region whose type is chosen
scaler = torch.cuda.amp.GradScaler()
with torch.autocast("cuda", dtype=kind):
    loss = model(x)

# case: another region of the default type in another file
import other
scaler = torch.amp.GradScaler("cuda")
# file: other.py
import torch
with torch.autocast("cuda"):
    pass

# case: another region in bfloat16 in another file
import other
scaler = torch.amp.GradScaler("cuda")  # TL505 hint
# file: other.py
import torch
with torch.autocast(
    "cuda",
    dtype=torch.bfloat16,
):
    pass

# case: float16 in another file
import other
scaler = torch.amp.GradScaler("cuda")
# file: other.py
model.half()

# case: a test [path=tests/test_scaler.py]
scaler = torch.amp.GradScaler("cuda")

# head: other regions

# case: by position
with torch.autocast("cuda", torch.bfloat16):
    scaler = torch.amp.GradScaler("cuda")  # TL505 hint

# case: of the older class
with torch.cuda.amp.autocast(True, torch.bfloat16):
    scaler = torch.amp.GradScaler("cuda")  # TL505 hint

# case: a type that is imported
from torch import bfloat16
with torch.amp.autocast("cuda", dtype=bfloat16):
    scaler = torch.amp.GradScaler("cuda")  # TL505 hint

# case: one of two types
kind = torch.bfloat16 if args.wide else other.kind
with torch.amp.autocast("cuda", dtype=kind):
    scaler = torch.amp.GradScaler("cuda")

# case: of a type that the words do not show
with torch.amp.autocast("cuda", **{"dtype": kind}):
    scaler = torch.amp.GradScaler("cuda")

# case: none
scaler = torch.amp.GradScaler("cuda")
