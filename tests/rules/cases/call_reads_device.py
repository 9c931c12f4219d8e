# TL220: functions that look at numbers of the device on each training step.

# every program:
import torch
from torch import nn
from torchvision import transforms
import torchvision.transforms.functional as TF
mean, std = [0.5, 0.5, 0.5], [0.2, 0.2, 0.2]

# head: a training loop
device = torch.device("cuda")
normalize = transforms.Normalize(mean, std)
for step, (x, y) in enumerate(loader):
    x = x.to(device)
    outputs = model(x)
    criterion(outputs, y.to(device)).backward()
    optimizer.step()

    # case: a transform with a name
    z = normalize(x)  # TL220 | says: copies mean and deviation

    # case: a transform of its own
    z = transforms.Normalize(mean, std)(x)  # TL220

    # case: a transform that is made
    again = transforms.Normalize(mean, std)

    # case: the function
    z = TF.normalize(x, mean, std)  # TL220

    # case: the function of the second version
    from torchvision.transforms import v2
    z = v2.functional.normalize(x, mean, std)  # TL220

    # case: every hundred steps
    if step % 100 == 0:
        z = normalize(x)

    # case: a tensor of the host
    z = normalize(torch.rand(3, 8, 8))

    # case: vectors of length one
    z = nn.functional.normalize(x)

    # case: an inverse
    z = torch.linalg.inv(outputs)  # TL220 | says: inv_ex

    # case: an inverse by its other name
    z = torch.inverse(outputs)  # TL220 | says: inv_ex

    # case: the inverse of a tensor
    z = outputs.inverse()  # TL220 | says: inv_ex

    # case: an inverse without a look
    z, info = torch.linalg.inv_ex(outputs)

    # case: singular values
    z = torch.linalg.svdvals(outputs)  # TL220 | says: every step.

    # case: the inverse of a matrix that may have none
    z = outputs.pinverse()  # TL220

    # case: the inverse of a transform
    z = scaler.inverse()

    # case: the scale of the gradients
    before = scaler.get_scale()  # TL220 hint | says: scale of the gradient scaler
    after = loss_scaler.state_dict()["scale"]  # TL220 hint
    model.state_dict()["scale"], scaler.state_dict()["growth"], sizes.get_scale()

    # case: the inverse of a matrix of which nothing shows where it is
    z = camera.view.T.inverse()  # TL220 hint
    z = (camera.view @ camera.pose).inverse()  # TL220 hint
    z = camera.pose[:3, :3].inverse()  # TL220 hint
    z = camera.pose.inverse()

    # case: a norm
    z = torch.linalg.norm(outputs)

# head: none

# case: in a network
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 8, 3)

    def forward(self, x):
        return self.layer(TF.normalize(x, mean, std))  # TL220

device = torch.device("cuda")
net = Net().to(device)
for x, y in loader:
    criterion(net(x.to(device)), y.to(device)).backward()
    optimizer.step()

# case: a dataset
class Photos(torch.utils.data.Dataset):
    def __getitem__(self, index):
        return TF.normalize(self.images[index], mean, std)

device = torch.device("cuda")
for x, y in torch.utils.data.DataLoader(Photos(), num_workers=8):
    criterion(model(x.to(device)), y.to(device)).backward()
    optimizer.step()

# case: a program without an accelerator
for x, y in loader:
    outputs = model(x)
    criterion(torch.linalg.inv(outputs), y).backward()
    optimizer.step()

# case: a test [path=tests/test_inverse.py]
device = torch.device("cuda")
for x, y in loader:
    criterion(model(torch.linalg.inv(x.to(device))), y.to(device)).backward()
    optimizer.step()
