"""A loop in which each comment says what its line asks a GPU for, on each step."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = TensorDataset(torch.randn(640, 16), torch.randint(0, 4, (640,)))
loader = DataLoader(data, batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 4)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
steps = torch.zeros(())
total = 0.0
for epoch in range(3):
    for x, y in loader:
        x, y = x.to(device), y.to(device)  # TR202 0 2.3 kB
        weight = torch.ones(4).to(device)  # TR203 16 B
        out = model(x)
        loss = nn.functional.cross_entropy(out, y, weight=weight)
        if torch.isnan(loss):  # TR201 1 before backward
            break
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()  # TR201 1
        steps += 1
        if steps.item() > 1e6:
            break
        right = (out.argmax(1) == y).float().mean().cpu().numpy()  # TR201 1
print(total)
with open("result.txt", "w") as file:
    file.write(str(total))
