# TL304: which biases a norm cancels, what the fix writes, and when it is withheld.

# every program:
import torch
from torch import nn
from torch.nn import functional as F

# head: a convolution and a norm, called in this way
class Net(nn.Module):
    def __init__(self, c=8):
        self.conv = nn.Conv2d(c, c, 3)  # TL304
        self.bn = nn.BatchNorm2d(c)
    def forward(self, x):

        # case: nested calls in forward
        return F.relu(self.bn(self.conv(x)))

        # case: one after the other in forward
        x = self.conv(x)
        x = self.bn(x)
        return x

        # case: with an annotation
        y: torch.Tensor = self.conv(x)
        return self.bn(y)

        # case: only the shape is read between
        x = self.conv(x)
        assert x.shape[1] == 8
        return self.bn(x)

# head: paired lists, called in this way
class Net(nn.Module):
    def __init__(self, c=8):
        self.convs = nn.ModuleList()
        self.bns = nn.ModuleList()
        for _ in range(3):
            self.convs.append(nn.Conv2d(c, c, 1))  # TL304
            self.bns.append(nn.BatchNorm2d(c))
    def forward(self, x):

        # case: paired ModuleLists with an index
        for i, conv in enumerate(self.convs):
            bn = self.bns[i]
            x = F.relu(bn(conv(x)))
        return x

        # case: paired ModuleLists with zip
        for conv, bn in zip(self.convs, self.bns):
            x = F.relu(bn(conv(x)))
        return x

# head: a convolution and a norm, called in another way
class Net(nn.Module):
    def __init__(self, c=8):
        self.conv = nn.Conv2d(c, c, 3)
        self.bn = nn.BatchNorm2d(c)
    def forward(self, x):

        # case: activation between in forward
        x = F.relu(self.conv(x))
        x = self.bn(x)
        return x

        # case: output used beside the norm
        y = self.conv(x)
        z = self.bn(y) + y
        return z

        # case: output kept for later
        y = self.conv(x)
        self.seen = y
        y = self.bn(y)
        return y

        # case: output read by a closure
        y = self.conv(x)
        later = lambda: y
        return self.bn(y), later

        # case: output returned too
        y = self.conv(x)
        return y, self.bn(y)

        # case: sum with a shortcut
        return self.bn(self.conv(x) + x)

        # case: norm on one path in forward
        x = self.conv(x)
        if self.training:
            x = self.bn(x)
        return F.relu(x)

        # case: attributes that nobody calls
        return x

        # case: same weights twice
        return self.conv(F.relu(self.bn(self.conv(x))))

        # case: same weights in the test of a conditional
        return self.bn(self.conv(x)) if self.bn(self.conv(-x)).mean() > 0 else x

        # case: layer handed to unknown code
        return self.bn(self.conv(x)) + checkpoint(self.conv, x)

# head: a norm behind a convolution, and what is done with them
class Net(nn.Module):
    def forward(self, x):
        return self.bn(self.conv(x))
    def __init__(self, c=8):
        self.bn = nn.BatchNorm2d(c)
        self.conv = nn.Conv2d(c, c, 3)

        # case: layer under a second name
        self.first = [self.other(self.conv)]

        # case: output seen by a hook
        self.conv.register_forward_hook(print)

        # case: spectral_norm applied later
        nn.utils.spectral_norm(self.conv)

        # case: bn.eval()
        self.bn.eval()

        # case: bn.train(False)
        self.bn.train(False)

        # case: bn.requires_grad_(False)
        self.bn.requires_grad_(False)

        # case: bn.weight.requires_grad = False
        self.bn.weight.requires_grad = False

        # case: parameters of the norm frozen in a loop
        for p in self.bn.parameters():
            p.requires_grad = False

# head: a norm behind a convolution, and what is done with its bias
class Net(nn.Module):
    def forward(self, x):
        return self.bn(self.conv(x))
    def __init__(self, c=8):
        self.bn = nn.BatchNorm2d(c)

        # case: dry run in __init__
        self.conv = nn.Conv2d(c, c, 3)  # TL304
        self.size = self.conv(torch.zeros(1, c, 8, 8)).numel()

        # case: no fix: of self.conv
        self.conv = nn.Conv2d(c, c, 3)  # TL304 | no fix: code writes to the bias
        self.conv.bias.data.zero_()

        # case: no fix: given to a function that may use it
        self.conv = nn.Conv2d(c, c, 3)  # TL304 | no fix: may use its bias
        init_layer(self.conv)

        # case: a fix: bias of the norm
        self.conv = nn.Conv2d(c, c, 3)  # TL304 unsafe
        self.bn.bias.data.zero_()

        # case: a fix: weight initialised
        self.conv = nn.Conv2d(c, c, 3)  # TL304 unsafe
        nn.init.ones_(self.conv.weight)

# head: a norm behind a convolution that is made in one way or another
class Net(nn.Module):
    def forward(self, x):
        return self.bn(self.conv(x))
    def __init__(self, c=8, bn=True):

        # case: one convolution or another
        if bn:
            self.conv = nn.Conv2d(c, c, 3)  # TL304
        else:
            self.conv = nn.Conv2d(c, c, 5, bias=False)
        self.bn = nn.BatchNorm2d(c)

        # case: the fix: norm or Identity
        self.conv = nn.Conv2d(c, c, 3)  # TL304 unsafe
        # becomes: self.conv = nn.Conv2d(c, c, 3, bias=not bn)
        self.bn = nn.BatchNorm2d(c) if bn else nn.Identity()

# head: a function that makes layers
def make(c, batch_norm, bn, config, deep, depth, dim, first, g, i, kinds, n, norm, o, plain, sizes, small):

    # case: MLP: as many features in the norm as in the layer
    return nn.Sequential(nn.Linear(i, o), nn.BatchNorm1d(o), nn.ReLU())  # TL304

    # case: either of two convolutions
    conv = nn.Conv2d if dim == 2 else nn.Conv3d
    return nn.Sequential(conv(3, 8, 3), nn.SyncBatchNorm(8))  # TL304

    # case: list literal that a helper returns
    return [nn.Conv2d(c, c, 3), nn.BatchNorm2d(c), nn.ReLU()]  # TL304

    # case: list += literal in a loop
    layers, c = [], 3
    layers = []
    for width in config:
        if width == "M":
            layers += [nn.MaxPool2d(2)]
            continue
        layers += [nn.Conv2d(c, width, 3), nn.BatchNorm2d(width), nn.ReLU()]  # TL304
        c = width
    return nn.Sequential(*layers)

    # case: append and append
    layers = []
    for i in range(len(sizes) - 2):
        layers.append(nn.Linear(sizes[i], sizes[i + 1]))  # TL304
        layers.append(nn.BatchNorm1d(sizes[i + 1]))
        layers.append(nn.ReLU())
    return nn.Sequential(*layers)

    # case: extend, and a list plus a list
    layers = [nn.Conv2d(3, c, 3)]  # TL304
    layers.extend([nn.BatchNorm2d(c), nn.ReLU()])
    layers = layers + [nn.Flatten()]
    return nn.Sequential(*layers)

    # case: end of one round, start of the next
    layers = [nn.ReLU()]
    for _ in range(3):
        layers.append(nn.BatchNorm2d(c))
        layers.append(nn.ReLU())
        layers.append(nn.Conv2d(c, c, 3))  # TL304
    layers.append(nn.BatchNorm2d(c))
    return nn.Sequential(*layers)

    # case: list comprehension of blocks
    return nn.Sequential(
        *[nn.Sequential(nn.Conv2d(c, c, 3), nn.BatchNorm2d(c)) for _ in range(3)]  # TL304
    )

    # case: one layer for both arms
    layers = []
    conv = nn.Conv2d(3, c, 3)  # TL304
    if batch_norm:
        layers += [conv, nn.BatchNorm2d(c), nn.ReLU()]
    else:
        layers += [conv, nn.ReLU()]
    return nn.Sequential(*layers)

    # case: GroupNorm with unknown groups
    return nn.Sequential(nn.Conv2d(3, c, 3), nn.GroupNorm(g, c), nn.BatchNorm2d(c))

    # case: a norm for another number of channels
    return [nn.Conv2d(3, 8, 3), nn.BatchNorm2d(16)]

    # case: one of several norms
    layers = [nn.Conv2d(3, c, 3)]
    if norm == "batch":
        layers.append(nn.BatchNorm2d(c))
    elif norm == "layer":
        layers.append(nn.LayerNorm([c, 8, 8]))
    layers.append(nn.ReLU())
    return nn.Sequential(*layers)

    # case: the last of several norms
    layers = [nn.Conv2d(3, c, 3)]
    if norm == "layer":
        layers.append(nn.LayerNorm([c, 8, 8]))
    elif norm == "batch":
        layers.append(nn.BatchNorm2d(c))
    layers.append(nn.ReLU())
    return nn.Sequential(*layers)

    # case: a norm or a convolution follows, and no condition says which
    layers = []
    for _ in range(3):
        layers.append(nn.Conv2d(c, c, 3))
    layers.append(nn.BatchNorm2d(c))
    return nn.Sequential(*layers)

    # case: the rest of the round is skipped at times
    layers = []
    for kind in kinds:
        layers.append(nn.Conv2d(c, c, 3))
        if kind == "plain":
            continue
        layers.append(nn.BatchNorm2d(c))
    return nn.Sequential(*layers)

    # case: layers taken off the list again
    layers = [nn.ReLU(), nn.Conv2d(3, c, 3)]
    layers.pop()
    layers.append(nn.BatchNorm2d(c))
    return nn.Sequential(*layers)

    # case: the fix: norm under a parameter
    layers = [nn.Conv2d(3, c, 3)]  # TL304 unsafe
    # becomes: layers = [nn.Conv2d(3, c, 3, bias=not bn)]
    if bn:
        layers += [nn.BatchNorm2d(c)]
    return nn.Sequential(*layers)

    # case: the fix: norm unless a parameter
    layers = [nn.Conv2d(3, c, 3)]  # TL304 unsafe
    # becomes: layers = [nn.Conv2d(3, c, 3, bias=bool(first))]
    if not first:
        layers.append(nn.BatchNorm2d(c))
    layers.append(nn.ReLU())
    return layers

    # case: the fix: norm in the other arm
    conv = nn.Conv2d(3, c, 3)  # TL304 unsafe
    # becomes: conv = nn.Conv2d(3, c, 3, bias=bool(plain))
    if plain:
        return nn.Sequential(conv, nn.ReLU())
    else:
        return nn.Sequential(conv, nn.BatchNorm2d(c))

    # case: the fix: both under one condition
    if small:
        return nn.Sequential(nn.Conv2d(3, c, 3), nn.BatchNorm2d(c))  # TL304 unsafe
        # becomes: return nn.Sequential(nn.Conv2d(3, c, 3, bias=False), nn.BatchNorm2d(c))
    return nn.Identity()

    # case: no fix: a condition that is not a parameter
    layers = []
    for i in range(depth):
        layers.append(nn.Conv2d(c, c, 3))  # TL304 | no fix: only under a condition
        if i < depth - 1:
            layers.append(nn.BatchNorm2d(c))
        layers.append(nn.ReLU())
    return nn.Sequential(*layers)

    # case: no fix: a parameter that is assigned again
    layers = [nn.Conv2d(3, c, 3)]  # TL304 | no fix: only under a condition
    bn = bn and c > 8
    if bn:
        layers.append(nn.BatchNorm2d(c))
    return nn.Sequential(*layers)

    # case: no fix: a condition that is computed later
    layers = [nn.Conv2d(3, c, 3)]  # TL304 | no fix: only under a condition
    wide = depth > 3
    if wide:
        layers.append(nn.BatchNorm2d(c))
    return nn.Sequential(*layers)

    # case: no fix: a condition with another operator than `not`
    layers = [nn.Conv2d(3, c, 3)]  # TL304 | no fix: only under a condition
    if ~bn:
        layers.append(nn.BatchNorm2d(c))
    return nn.Sequential(*layers)

    # case: the fix: norm made before the condition
    layers = [nn.Conv2d(3, c, 3)]  # TL304 unsafe
    # becomes: layers = [nn.Conv2d(3, c, 3, bias=not bn)]
    norm = nn.BatchNorm2d(c)
    if bn:
        layers.append(norm)
    return nn.Sequential(*layers)

    # case: no fix: two conditions
    layers = [nn.Conv2d(3, c, 3)]  # TL304 | no fix: only under a condition
    if deep:
        if bn:
            layers.append(nn.BatchNorm2d(c))
    return nn.Sequential(*layers)

    # case: a power is not **kwargs
    return nn.Sequential(nn.Linear(2 ** n, 8), nn.BatchNorm1d(8))  # TL304

# head: a network, and what is done with it from outside
class Net(nn.Module):
    def __init__(self, c=8):
        self.conv = nn.Conv2d(c, c, 3)
        self.bn = nn.BatchNorm2d(c)
    def forward(self, x): return self.bn(self.conv(x))

# case: subclass overrides forward
class Other(Net):
    def forward(self, x): return self.bn(-self.conv(x))

# case: norm of a model frozen from outside
net = Net()
net.bn.eval()

# case: all norms frozen by type
for m in Net().modules():
    if isinstance(m, nn.BatchNorm2d):
        m.eval()

# case: fused for inference
torch.ao.quantization.fuse_modules(Net(), [['conv', 'bn']])

# head: layers that are looped over, and their biases left alone or asked for
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))  # TL304 unsafe
for m in net:

    # case: a fix: asks whether there is a bias
    if isinstance(m, nn.Conv2d):
        if m.bias is not None:
            m.bias.data.zero_()

    # case: a fix: asks whether the bias is anything
    if isinstance(m, nn.Conv2d):
        if m.bias:
            nn.init.constant_(m.bias, 0)

    # case: a fix: bias only in a comment
    if isinstance(m, nn.Conv2d):
        nn.init.ones_(m.weight)  # no bias, the norm has one

    # case: a fix: bias of norms
    if isinstance(m, nn.Conv2d):
        nn.init.ones_(m.weight)
    elif isinstance(m, nn.BatchNorm2d):
        m.bias.data.zero_()

    # case: a fix: bias of another kind of layer
    if isinstance(m, nn.Linear):
        m.bias.data.zero_()

# head: a bias that is written to
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))  # TL304 | no fix: code writes to the bias

# case: no fix: m.bias.data written by type
for m in net.modules():
    if isinstance(m, nn.Conv2d):
        m.bias.data.zero_()

# case: no fix: init.constant_ of the bias
nn.init.constant_(net[0].bias, 0)

# case: no fix: an item of the bias
net[0].bias[0] = 1

# case: no fix: by the name of the class
def init(m):
    if m.__class__.__name__.find('Conv') != -1:
        m.bias.data.fill_(0)

# case: no fix: hasattr settles nothing: the attribute is there, and None
for m in net:
    if hasattr(m, 'bias'):
        m.bias.data.zero_()

# case: no fix: in the arm for all but norms
for m in net:
    if isinstance(m, nn.BatchNorm2d):
        m.weight.data.fill_(1)
    else:
        m.bias.data.zero_()

# head: old weights that are loaded
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))  # TL304 | no fix: checkpoints that the project loads | says: `bias=False` in new trainings

# case: no fix: state dict loaded
net.load_state_dict(torch.load('old.pt'))

# case: no fix: pretrained weights
import models
old = models.resnet18(pretrained=True)

# case: no fix: from_pretrained
old = Encoder.from_pretrained('name')

# case: no fix: torch.hub
old = torch.hub.load('repo', 'model')

# head: none

# case: subclass overrides something else
class Net(nn.Module):
    def __init__(self, c=8):
        self.net = nn.Sequential(nn.Conv2d(c, c, 3), nn.BatchNorm2d(c))  # TL304
class Other(Net):
    def __init__(self):
        super().__init__(16)

# case: layer without its number of features
net = nn.Sequential(nn.Linear(3), nn.BatchNorm1d(8))

# case: norm or dropout
class Net(nn.Module):
    def __init__(self, c=8, bn=True):
        self.conv = nn.Conv2d(c, c, 3)  # TL304 unsafe
        # becomes: self.conv = nn.Conv2d(c, c, 3, bias=not bn)
        self.bn = nn.BatchNorm2d(c) if bn else nn.Dropout()
    def forward(self, x): return self.bn(self.conv(x))

# case: Conv1d
net = nn.Sequential(nn.Conv1d(3, 8, 3), nn.BatchNorm1d(8))  # TL304

# case: Conv3d
net = nn.Sequential(nn.Conv3d(3, 8, 3), nn.BatchNorm3d(8))  # TL304

# case: transposed
net = nn.Sequential(nn.ConvTranspose2d(3, 8, 3), nn.BatchNorm2d(8))  # TL304

# case: sync norm
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.SyncBatchNorm(8))  # TL304

# case: lazy
net = nn.Sequential(nn.LazyConv2d(8, 3), nn.LazyBatchNorm2d())  # TL304

# case: lazy, and the norm's first argument is eps
net = nn.Sequential(nn.LazyConv2d(8, 3), nn.LazyBatchNorm2d(1e-3))  # TL304

# case: bias=True
net = nn.Sequential(nn.Conv2d(3, 8, 3, bias=True), nn.BatchNorm2d(8))  # TL304

# case: bias by place
net = nn.Sequential(nn.Conv2d(3, 8, 3, 1, 0, 1, 1, True, "zeros"), nn.BatchNorm2d(8))  # TL304

# case: nested Sequential before
net = nn.Sequential(nn.Sequential(nn.ReLU(), nn.Conv2d(3, 8, 3)), nn.BatchNorm2d(8))  # TL304

# case: nested Sequential behind
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Sequential(nn.BatchNorm2d(8), nn.ReLU()))  # TL304

# case: Identity between hands it on
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Identity(), nn.BatchNorm2d(8))  # TL304

# case: a hundred Sequentials around it
S = nn.Sequential
net = S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(S(
    nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)  # TL304
))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))

# case: OrderedDict of pairs
from collections import OrderedDict
net = nn.Sequential(OrderedDict([
    ("conv", nn.Conv2d(3, 8, 3)),  # TL304
    ("bn", nn.BatchNorm2d(8)),
]))

# case: OrderedDict that grows
from collections import OrderedDict
def make():
    parts = OrderedDict()
    parts["conv"] = nn.Conv2d(3, 8, 3)  # TL304
    parts["bn"] = nn.BatchNorm2d(8)
    return nn.Sequential(parts)

# case: subclass of Sequential
class Block(nn.Sequential):
    def __init__(self, c):
        super().__init__(nn.Conv2d(c, c, 3), nn.BatchNorm2d(c))  # TL304

# case: subclass of Sequential with add_module
class Block(nn.Sequential):
    def __init__(self, c):
        super().__init__()
        self.add_module("conv", nn.Conv2d(c, c, 3))  # TL304
        self.add_module("bn", nn.BatchNorm2d(c))
    def forward(self, x): return torch.cat([x, super().forward(x)], 1)

# case: imported layer with another name
from torch.nn import Conv2d as C, BatchNorm2d as BN
net = nn.Sequential(C(3, 8, 3), BN(8))  # TL304

# case: layer under another name
conv = nn.Conv2d
norm = nn.SyncBatchNorm if torch.distributed.is_initialized() else nn.BatchNorm2d
net = nn.Sequential(conv(3, 8, 3), norm(8))  # TL304

# case: name on a line of its own
conv = (
    nn.Conv2d
)
net = nn.Sequential(conv(3, 8, 3), nn.BatchNorm2d(8))  # TL304

# case: list in a method that grows an attribute
class Net(nn.Module):
    def __init__(self, c=8):
        self.layers = []
        self.layers.append(nn.Conv2d(c, c, 3))  # TL304
        self.layers.append(nn.BatchNorm2d(c))
        self.net = nn.Sequential(*self.layers)
    def forward(self, x): return self.net(x)

# case: norm only if asked for
def block(i, o, normalize=True):
    layers = [nn.Linear(i, o)]  # TL304 | says: where there is one, cancels; pass `bias=not normalize`
    if normalize:
        layers.append(nn.BatchNorm1d(o, 0.8))
    layers.append(nn.LeakyReLU(0.2))
    return layers

# case: norm in one branch, and none in the other
def make_layers(cfg, batch_norm=False):
    layers = []
    for v in cfg:
        conv2d = nn.Conv2d(3, v, kernel_size=3)  # TL304 | says: `bias=not batch_norm`
        if batch_norm:
            layers += [conv2d, nn.BatchNorm2d(v), nn.ReLU(inplace=True)]
        else:
            layers += [conv2d, nn.ReLU(inplace=True)]
    return nn.Sequential(*layers)

# case: norm under a condition that no parameter gives
def block(i, o, options):
    layers = [nn.Linear(i, o)]  # TL304 | says: pass the opposite of the norm's condition | no fix
    if options.normalize:
        layers.append(nn.BatchNorm1d(o))
    return layers

# case: another class stops something of the same name
class Net(nn.Module):
    def __init__(self, c=8):
        self.conv = nn.Conv2d(c, c, 3)  # TL304
        self.bn = nn.BatchNorm2d(c)
    def forward(self, x): return self.bn(self.conv(x))
class Other(nn.Module):
    def __init__(self):
        self.bn = nn.Dropout()
        self.bn.eval()

# case: Sequential in forward
class Net(nn.Module):
    def __init__(self, c=8):
        self.features = nn.Sequential(nn.ReLU(), nn.Conv2d(c, c, 3))  # TL304
        self.bn = nn.BatchNorm2d(c)
    def forward(self, x):
        x = self.features(x)
        return self.bn(x)

# case: paired ModuleLists from comprehensions
class Net(nn.Module):
    def __init__(self, c=8):
        self.convs = nn.ModuleList([nn.Conv2d(c, c, 1) for _ in range(3)])  # TL304
        self.bns = nn.ModuleList(nn.BatchNorm2d(c) for _ in range(3))
    def forward(self, x):
        for i in range(3):
            x = self.bns[i](self.convs[i](x))
        return x

# case: ModuleLists of ModuleLists
class Net(nn.Module):
    def __init__(self, c=8):
        self.all_convs = nn.ModuleList()
        self.all_bns = nn.ModuleList()
        for _ in range(2):
            convs = nn.ModuleList()
            bns = nn.ModuleList()
            for _ in range(3):
                convs.append(nn.Conv2d(c, c, 1))  # TL304
                bns.append(nn.BatchNorm2d(c))
            self.all_convs.append(convs)
            self.all_bns.append(bns)
    def forward(self, x):
        for i in range(2):
            for j in range(3):
                conv = self.all_convs[i][j]
                bn = self.all_bns[i][j]
                x = bn(conv(x))
        return x

# case: ModuleList that a plain loop runs
class Net(nn.Module):
    def __init__(self, c=8):
        self.layers = nn.ModuleList([nn.Conv2d(c, c, 3), nn.BatchNorm2d(c), nn.ReLU()])  # TL304
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

# case: instance norm
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.InstanceNorm2d(8))  # TL304 hint

# case: a group per channel
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.GroupNorm(8, 8))  # TL304 hint

# case: one norm behind two layers shares its running mean
class Net(nn.Module):
    def __init__(self, c=8):
        self.conv1 = nn.Conv2d(c, c, 3, bias=False)
        self.conv2 = nn.Conv2d(c, c, 3)  # TL304 hint
        self.bn = nn.BatchNorm2d(c)
    def forward(self, x): return self.bn(self.conv2(F.relu(self.bn(self.conv1(x)))))

# case: activation between in Sequential
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.BatchNorm2d(8))

# case: dropout between
net = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.3), nn.BatchNorm1d(8))

# case: PixelShuffle mixes the channels
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.PixelShuffle(2), nn.BatchNorm2d(2))

# case: output used beside a norm that is optional
class Net(nn.Module):
    def __init__(self, c=8, bn=True):
        self.conv = nn.Conv2d(c, c, 3)
        if bn:
            self.bn = nn.BatchNorm2d(c)
    def forward(self, x):
        y = self.conv(x)
        return self.bn(y) + y

# case: order in __init__ is not the order of calls
class Net(nn.Module):
    def __init__(self, c=8):
        self.conv1 = nn.Conv2d(c, c, 3)
        self.bn1 = nn.BatchNorm2d(c)
        self.conv2 = nn.Conv2d(c, c, 3, bias=False)
    def forward(self, x): return self.conv1(F.relu(self.bn1(self.conv2(x))))

# case: add_module in a class that is not a Sequential
class Net(nn.Module):
    def __init__(self, c=8):
        self.add_module("conv", nn.Conv2d(c, c, 3))
        self.add_module("bn", nn.BatchNorm2d(c))
    def forward(self, x): return self.conv(F.relu(self.bn(x)))

# case: container that does not say in which order it runs
class Parts(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.add_module("conv", nn.Conv2d(c, c, 3))
        self.add_module("bn", nn.BatchNorm2d(c))

# case: list to choose from
import random
part = random.choice([nn.Conv2d(8, 8, 3), nn.BatchNorm2d(8)])

# case: Sequential with a forward of its own
class Block(nn.Sequential):
    def __init__(self, c):
        super().__init__(nn.Conv2d(c, c, 3), nn.BatchNorm2d(c))
    def forward(self, x): return self[1](F.relu(self[0](x)))

# case: GroupNorm with larger groups
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.GroupNorm(2, 8), nn.BatchNorm2d(8))

# case: LayerNorm
net = nn.Sequential(nn.Linear(3, 8), nn.LayerNorm(8), nn.ReLU(), nn.BatchNorm1d(8))

# case: Linear and a norm over the length
class Net(nn.Module):
    def __init__(self, c=8):
        self.fc = nn.Linear(c, c)
        self.bn = nn.BatchNorm1d(100)
    def forward(self, x): return self.bn(self.fc(x))

# case: Linear and a lazy norm over nobody knows what
net = nn.Sequential(nn.Linear(3, 8), nn.LazyBatchNorm1d())

# case: Linear and InstanceNorm1d, which takes (N, C) for (C, L)
net = nn.Sequential(nn.Linear(3, 8), nn.InstanceNorm1d(8))

# case: same weights in two calls, each with a norm
class Net(nn.Module):
    def __init__(self, c=8):
        self.conv = nn.Conv2d(c, c, 3)
        self.bn = nn.BatchNorm2d(c)

        self.bn2 = nn.BatchNorm2d(c)
    def forward(self, x): return self.bn(self.conv(x)) + self.bn2(self.conv(2 * x))

# case: same layer in two containers
class Net(nn.Module):
    def __init__(self, c=8):
        conv = nn.Conv2d(c, c, 3)
        self.a = nn.Sequential(conv, nn.BatchNorm2d(c))
        self.b = nn.Sequential(conv, nn.BatchNorm2d(c))
    def forward(self, x): return self.a(x), self.b(x)

# case: same layer in a container and in a call
class Net(nn.Module):
    def __init__(self, c=8):
        self.conv = nn.Conv2d(c, c, 3)
        self.a = nn.Sequential(self.conv, nn.BatchNorm2d(c))
        self.bn = nn.BatchNorm2d(c)
    def forward(self, x): return self.a(x), self.bn(self.conv(x))

# case: weight_norm around the layer
from torch.nn.utils import weight_norm
net = nn.Sequential(weight_norm(nn.Conv2d(3, 8, 3)), nn.BatchNorm2d(8))

# case: functional convolution with own parameters
class Net(nn.Module):
    def __init__(self, c=8):
        self.w = self.b = None
        self.bn = nn.BatchNorm2d(c)
    def forward(self, x): return self.bn(F.conv2d(x, self.w, self.b))

# case: bias from a configuration
def f(cfg):
    return nn.Sequential(nn.Conv2d(3, 8, 3, bias=cfg.bias), nn.BatchNorm2d(8))
other = nn.Conv2d(3, 8, 3)

# case: bias perhaps in **kwargs
def f(**kw):
    return nn.Sequential(nn.Conv2d(3, 8, 3, **kw), nn.BatchNorm2d(8))
other = nn.Conv2d(3, 8, 3)

# case: the input is pooled to one place
net = nn.Sequential(
    nn.AdaptiveAvgPool2d(1),
    nn.Conv2d(8, 4, kernel_size=1),
    nn.BatchNorm2d(4),
    nn.ReLU(inplace=True),
    nn.Conv2d(4, 8, kernel_size=1),
    nn.BatchNorm2d(8),
)

# case: the input is pooled to one place in forward
class Net(nn.Module):
    def __init__(self, c=8):
        self.pool = nn.AdaptiveAvgPool2d((1, 1))
        self.conv = nn.Conv2d(c, c, 1)
        self.bn = nn.BatchNorm2d(c)
    def forward(self, x):
        x = self.pool(x)
        return self.bn(self.conv(x))

# case: the input is pooled to several places
net = nn.Sequential(
    nn.AdaptiveAvgPool2d(7),
    nn.Conv2d(8, 4, kernel_size=1),  # TL304
    nn.BatchNorm2d(4),
)

# case: the input is pooled to one row
net = nn.Sequential(
    nn.AdaptiveAvgPool2d((1, 7)),
    nn.Conv2d(8, 4, kernel_size=1),  # TL304
    nn.BatchNorm2d(4),
)

# case: the input comes from a layer with one channel
net = nn.Sequential(
    nn.Conv2d(1, 8, 3, bias=False),
    nn.Conv2d(8, 4, kernel_size=1),  # TL304
    nn.BatchNorm2d(4),
)

# case: the pooling and the convolution are under the same condition
if pool:
    net = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(8, 4, 1), nn.BatchNorm2d(4))

# case: the input was pooled to one place, and is made larger again
net = nn.Sequential(
    nn.AdaptiveAvgPool2d(1),
    nn.Upsample(8),
    nn.Conv2d(8, 4, kernel_size=1),  # TL304
    nn.BatchNorm2d(4),
)

# case: the input is pooled to one place by a convolution with a large kernel behind it
net = nn.Sequential(
    nn.AdaptiveAvgPool2d(1),
    nn.ConvTranspose2d(8, 8, 4, bias=False),
    nn.Conv2d(8, 4, kernel_size=1),  # TL304
    nn.BatchNorm2d(4),
)

# case: the input is pooled only if asked for
def head(pool):
    layers = []
    if pool:
        layers.append(nn.AdaptiveAvgPool2d(1))
    layers.append(nn.Conv2d(8, 4, 1))  # TL304
    layers.append(nn.BatchNorm2d(4))
    return nn.Sequential(*layers)

# case: layers that follow each other in a loop, and no pooling
layers = []
for _ in range(3):
    layers += [nn.Conv2d(8, 8, 1), nn.BatchNorm2d(8)]  # TL304
net = nn.Sequential(*layers)

# case: only some of the inputs are pooled
class Net(nn.Module):
    def __init__(self, c=8):
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.block = nn.Sequential(
            nn.Conv2d(c, c, 1),  # TL304
            nn.BatchNorm2d(c),
        )
    def forward(self, x, y):
        return self.block(self.pool(x)) + self.block(y)

# case: bias perhaps in *args
def f(*args):
    return nn.Sequential(nn.Conv2d(*args), nn.BatchNorm2d(8))

# case: no bias by place
net = nn.Sequential(nn.Linear(3, 8, False), nn.BatchNorm1d(8))

# case: no bias by place in a lazy layer
net = nn.Sequential(nn.LazyConv2d(8, 3, 1, 0, 1, 1, False), nn.BatchNorm2d(8))

# case: norm that a parameter may choose
def f(norm_layer=None):
    if norm_layer is None:
        norm_layer = nn.BatchNorm2d
    return nn.Sequential(nn.Conv2d(3, 8, 3), norm_layer(8))
other = nn.BatchNorm2d(8)

# head: a norm that a parameter chooses, and who calls the class
class Block(nn.Module):
    def __init__(self, c, norm_layer=nn.BatchNorm2d, **kwargs):
        self.net = nn.Sequential(
            nn.Conv2d(c, c, 3),  # TL304 unsafe | says: `BatchNorm2d` cancels
            norm_layer(c),
        )

# case: the only call leaves the default
block = Block(8)

# case: the calls pass batch norms
Sync = nn.SyncBatchNorm if ddp else nn.BatchNorm2d
block = Block(8, norm_layer=Sync)
other = Block(8, nn.BatchNorm2d)

# case: a call passes what it got, always a batch norm
def net(c, norm_layer=nn.BatchNorm2d):
    return Block(c, norm_layer)
net(8)

# case: a subclass passes a batch norm
class Wide(Block):
    def __init__(self, c):
        super().__init__(2 * c, norm_layer=nn.BatchNorm2d)

# head: a norm that a parameter chooses, and nothing shows which
class Block(nn.Module):
    def __init__(self, c, norm_layer=nn.BatchNorm2d, **kwargs):
        self.net = nn.Sequential(
            nn.Conv2d(c, c, 3),  # TL304 hint | no fix: another norm | says: unless `norm_layer` is another norm
            norm_layer(c),
        )

# case: nothing is known of the callers
kinds = [Block]

# case: a call may pass anything
def net(**kwargs):
    return Block(8, **kwargs)

# case: a call passes what it got, and nobody knows what that is
def net(c, norm_layer=nn.BatchNorm2d):
    return Block(c, norm_layer)

# case: nothing is known of the callers, and checkpoints are loaded
kinds = [Block]
net.load_state_dict(torch.load('old.pt'))

# case: a subclass takes it over
class Wide(Block):
    pass

# head: a norm that a parameter chooses, and that may be another
class Block(nn.Module):
    def __init__(self, c, norm_layer=nn.BatchNorm2d):
        self.net = nn.Sequential(nn.Conv2d(c, c, 3), norm_layer(c))

# case: a call passes another norm
block = Block(8, nn.GroupNorm)

# case: a call passes what nobody knows
block = Block(8, norm_layer=pick(args.norm))

# case: a function passes what it got, which has no default
def net(norm):
    return Block(8, norm)

# case: a function passes what it got, another norm at times
def net(norm):
    return Block(8, norm)
net(nn.BatchNorm2d)
net(nn.InstanceNorm2d)

# case: a subclass passes another norm
class Wide(Block):
    def __init__(self, c):
        super().__init__(2 * c, norm_layer=nn.LayerNorm)

# case: another file passes another norm
block = Block(8)
# file: other.py
import torch
from functools import partial
import train
train.Block(8, norm_layer=partial(torch.nn.GroupNorm, 4))

# case: another file passes a norm of its own
block = Block(8)
# file: other.py
import torch, train
train.Block(8, norm_layer=torch.nn.BatchNorm2d)
train.Block(8, norm_layer=layers.ChannelNorm)

# case: nothing is known of the callers, and another file passes another norm
kinds = [Block]
# file: other.py
import torch, train
build(norm_layer=torch.nn.GroupNorm)

# head: none

# case: a batch norm that nobody chooses, and another file that passes another norm
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))  # TL304
# file: other.py
import torch, train
build(norm_layer=torch.nn.GroupNorm)

# case: a norm that a parameter chooses, and another file that passes a batch norm
def block(c, norm_layer=nn.BatchNorm2d):
    return nn.Sequential(nn.Conv2d(3, c, 3), norm_layer(c))  # TL304
block(8)
# file: other.py
import torch, train
self.norm = torch.nn.LayerNorm(8)
train.block(8, norm_layer=torch.nn.SyncBatchNorm)

# case: a norm that a parameter chooses, which the function asks about
def block(c, norm_layer=nn.BatchNorm2d):
    if norm_layer == nn.InstanceNorm2d:
        c = 2 * c
    return nn.Sequential(nn.Conv2d(3, c, 3), norm_layer(c))
block(8)

# case: a norm that a method gets from its caller
class Net(nn.Module):
    def __init__(self, norm_layer=nn.BatchNorm2d):
        self.head = self._make_head(8, norm_layer)
    def _make_head(self, c, norm_layer):
        return nn.Sequential(
            nn.Conv2d(c, c, 3),  # TL304 unsafe
            norm_layer(c),
        )
net = Net()

# case: a norm that is chosen with `affine=False`
def block(c, norm_layer=nn.BatchNorm2d):
    return nn.Sequential(nn.Conv2d(3, c, 3), norm_layer(c, affine=False))
block(8)

# case: perhaps a layer of another library
import quantized
def f(quantize):
    conv = quantized.Conv2d if quantize else nn.Conv2d
    return nn.Sequential(conv(3, 8, 3), nn.BatchNorm2d(8))

# case: norm without affine
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8, affine=False))

# case: norm without running statistics
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8, track_running_stats=False))

# case: frozen norm of another library
from torchvision.ops import FrozenBatchNorm2d
net = nn.Sequential(nn.Conv2d(3, 8, 3), FrozenBatchNorm2d(8))
other = nn.BatchNorm2d(8)

# case: norm class of this file
class BatchNorm2d(nn.Module):
    pass
net = nn.Sequential(nn.Conv2d(3, 8, 3), BatchNorm2d(8))
other = nn.BatchNorm2d(8)

# case: ModuleList runs in no order of its own
class Net(nn.Module):
    def __init__(self, c=8):
        self.parts = nn.ModuleList([nn.Conv2d(c, c, 3), nn.BatchNorm2d(c)])
    def forward(self, x): return self.parts[1](F.relu(self.parts[0](x)))

# case: list that becomes a ModuleList
class Net(nn.Module):
    def __init__(self, c=8):
        parts = []
        parts.append(nn.Conv2d(c, c, 3))
        parts.append(nn.BatchNorm2d(c))
        self.parts = nn.ModuleList(parts)
    def forward(self, x): return run(self.parts, x)

# case: Sequential run by hand with more in between
class Net(nn.Module):
    def __init__(self, c=8):
        self.layers = nn.Sequential(nn.Conv2d(c, c, 3), nn.BatchNorm2d(c))
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
            x = x.masked_fill(x < 0, 0)
        return x

# case: Sequential given to a class that runs it by hand
class Masked(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = layers
    def forward(self, x, mask):
        for layer in self.layers:
            x = layer(x)
            x = x.masked_fill(mask, 0)
        return x
net = Masked(nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)))

# case: layers that are only looped over together
class Net(nn.Module):
    def __init__(self, c=8):
        self.conv = nn.Conv2d(c, c, 3)
        self.bn = nn.BatchNorm2d(c)

        for part in [self.conv, self.bn]:
            part.to('cuda')
    def forward(self, x): return self.bn(F.relu(self.conv(x)))

# case: helper's last layer, which other callers may follow with anything
def first(c):
    return [nn.Conv2d(3, c, 3)]
net = nn.Sequential(*first(8), nn.BatchNorm2d(8))

# case: the fix: argument appended
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))  # TL304 unsafe
# becomes: net = nn.Sequential(nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8))

# case: the fix: bias=True replaced
net = nn.Sequential(nn.Conv2d(3, 8, 3, bias=True, groups=1), nn.BatchNorm2d(8))  # TL304 unsafe
# becomes: net = nn.Sequential(nn.Conv2d(3, 8, 3, bias=False, groups=1), nn.BatchNorm2d(8))

# case: the fix: bias by place replaced
net = nn.Sequential(nn.Linear(3, 8, True), nn.BatchNorm1d(8))  # TL304 unsafe
# becomes: net = nn.Sequential(nn.Linear(3, 8, False), nn.BatchNorm1d(8))

# case: no fix: a Linear's, for a Linear
net = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8))  # TL304 | no fix: code writes to the bias
for m in net:
    if isinstance(m, nn.Linear):
        m.bias.data.zero_()

# case: a fix: a module's own parameter called bias
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))  # TL304 unsafe
class Net(nn.Module):
    def __init__(self, c=8):
        self.bias = nn.Parameter(torch.zeros(c))
    def forward(self, x): return F.linear(x, x, self.bias)

# case: a fix: only asks, and writes nothing
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))  # TL304 unsafe
print(net[0].bias is None)

# case: a fix: state of the optimizer
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))  # TL304 unsafe
optimizer.load_state_dict(torch.load('old.pt'))

# case: a fix: pretrained=False
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))  # TL304 unsafe
import models
old = models.resnet18(pretrained=False)

# case: it marks the layer and names the norm
net = nn.Sequential(
    nn.Conv2d(3, 8, 3),  # TL304 | says: `Conv2d` | marks: nn.Conv2d(3, 8, 3) | see: nn.BatchNorm2d(8)
    nn.BatchNorm2d(8),
)

# case: a test [path=tests/test_model.py]
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))

# case: a model that is made from itself
class Net(nn.Module):
    def __init__(self, c=8):
        self.parts = nn.ModuleList([nn.Conv2d(c, c, 3), nn.BatchNorm2d(c)])
        self.parts = self.parts[1:]
        self.net = nn.Sequential(*self.net, nn.ReLU())
        self.net = nn.Sequential(self.net, nn.ReLU())
    def forward(self, x):
        for part in self.parts:
            x = F.relu(part(self.net(x)))
        return x
def f():
    layers = []
    for _ in range(3):
        layers = [*layers, nn.ReLU()]
    return nn.Sequential(*layers)

# case: `bias` of something inside the call
net = nn.Sequential(nn.Linear(f(bias=False), 8), nn.BatchNorm1d(8))  # TL304

# case: `bias` only in a comment
net = nn.Sequential(nn.Linear(3,  # bias=False  # TL304
    8), nn.BatchNorm1d(8))

# case: another name of another name
a = nn.Linear
b = a
net = nn.Sequential(b(3, 8), nn.BatchNorm1d(8))  # TL304

# case: only the norm under another name
bn = nn.BatchNorm1d
net = nn.Sequential(nn.Linear(3, 8), bn(8))  # TL304

# case: a name with an annotation
conv: type = nn.Conv2d
net = nn.Sequential(conv(3, 8, 3), nn.BatchNorm2d(8))  # TL304

# case: `**` of something inside the call
net = nn.Sequential(nn.Linear(f(**sizes), 8), nn.BatchNorm1d(8))  # TL304

# case: not parsed: `bias` behind a string [bare, unread]
nn.Conv2d(3, 8, 3, padding_mode="zeros", bias=False)
nn.BatchNorm2d(8)

# case: a switch called bias behind the layer
layer = nn.Linear(3, 8)  # TL304
bias = False
net = nn.Sequential(layer, nn.BatchNorm1d(8))

# case: a number that is called bias
net = nn.Sequential(nn.Conv2d(3, bias, 3), nn.BatchNorm2d(bias))  # TL304

# case: norm is a default on its own line
def f(
    c,
    norm: type = nn.BatchNorm2d,
):
    return nn.Sequential(nn.Conv2d(3, 8, 3), norm(8))  # TL304 hint

# case: not parsed: norm is only a default, and is passed on [bare, unread]
def f(c, norm=nn.BatchNorm2d):
    nn.Conv2d(3, 8, 3)
    return block(c, norm)

# case: not parsed: every layer says bias=False [bare, unread]
nn.Conv2d(3, 8, 3, bias=False)
nn.BatchNorm2d(8)

# case: not parsed: bias over several lines [bare, unread]
nn.Conv2d(
    3, 8,
    bias=False,
)
nn.BatchNorm2d(8)

# case: not parsed: bias in **kwargs [bare, unread]
nn.Conv2d(3, 8, 3, **kwargs)
nn.BatchNorm2d(8)

# case: not parsed: norm is only a default [bare, unread]
def f(norm=nn.BatchNorm2d):
    nn.Conv2d(3, 8, 3)

# case: not parsed: norm is only a base class [bare, unread]
class BatchNormAct(nn.BatchNorm2d):
    a = nn.Conv2d(3, 8, 3)

# case: not parsed: other layers with such names [bare, unread]
MyConv2d(3, 8)
QuantLinear(3, 8)
nn.BatchNorm2d(8)

# case: not parsed: a norm in one class, a bias in another [bare, unread]
class Block(nn.Module):
    def __init__(self):
        self.norm = nn.BatchNorm2d(8)
class Head(nn.Module):
    def __init__(self):
        self.out = nn.Linear(8, 2)

# case: not parsed: own class [bare, unread]
class Linear(nn.Module): pass
nn.BatchNorm2d(8)

# head: another file of the program [path=model.py]
# file: train.py
import torch
import model
import tools

# case: no fix: it initialises by type
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))  # TL304 | no fix: code writes to the bias
# file: tools.py
from torch import nn
def init(net):
    for m in net.modules():
        if isinstance(m, (nn.Conv2d, nn.Linear)):
            nn.init.kaiming_normal_(m.weight)
            nn.init.constant_(m.bias, 0)

# case: no fix: it initialises by class name
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))  # TL304 | no fix: code writes to the bias
# file: tools.py
import torch
def init(m):
    if type(m).__name__.find("Conv") != -1:
        m.weight.data.normal_(0, 0.02)
        m.bias.data.zero_()

# case: no fix: it loads a checkpoint
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))  # TL304 | no fix: checkpoints that the project loads
# file: tools.py
import torch
def load(net):
    net.load_state_dict(torch.load('x'))

# case: no fix: it freezes the norms
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))  # TL304 | no fix: freezes norms
# file: tools.py
from torch import nn
def freeze(net):
    for m in net.modules():
        if isinstance(m, nn.BatchNorm2d):
            m.eval()

# case: a fix: it asks whether there is a bias
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))  # TL304 unsafe
# file: tools.py
from torch import nn
def init(m):
    if isinstance(m, nn.Conv2d):
        nn.init.ones_(m.weight)
        if m.bias is not None:
            nn.init.zeros_(m.bias)

# case: a fix: it asks whether the bias is anything
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))  # TL304 unsafe
# file: tools.py
from torch import nn
def init(m):
    if isinstance(m, nn.Conv2d):
        nn.init.ones_(m.weight)
        if m.bias:
            nn.init.zeros_(m.bias)

# case: a fix: it asks in the same line
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))  # TL304 unsafe
# file: tools.py
from torch import nn
def init(m):
    if isinstance(m, nn.Conv2d) and m.bias is not None:
        nn.init.zeros_(m.bias)

# case: a fix: it initialises norms
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))  # TL304 unsafe
# file: tools.py
from torch import nn
def init(m):
    if isinstance(m, nn.Conv2d):
        nn.init.ones_(m.weight)
    elif isinstance(m, nn.BatchNorm2d):
        nn.init.zeros_(m.bias)

# case: a fix: it initialises linear layers
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))  # TL304 unsafe
# file: tools.py
from torch import nn
def init(m):
    if isinstance(m, nn.Linear):
        nn.init.zeros_(m.bias)

# head: none [path=model.py]

# case: a fix: a file that does all this belongs to no program with it
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))  # TL304 unsafe
# file: tools.py
from torch import nn
def init(net):
    for m in net.modules():
        if isinstance(m, (nn.Conv2d, nn.Linear)):
            nn.init.kaiming_normal_(m.weight)
            nn.init.constant_(m.bias, 0)


import torch
def init(m):
    if type(m).__name__.find("Conv") != -1:
        m.weight.data.normal_(0, 0.02)
        m.bias.data.zero_()

import torch
def load(net):
    net.load_state_dict(torch.load('x'))

from torch import nn
def freeze(net):
    for m in net.modules():
        if isinstance(m, nn.BatchNorm2d):
            m.eval()

# head: none

# case: not parsed: a layer that a norm was fused into [bare, unread]
import torch
from torch import nn
class ConvNorm(nn.Module):
    def __init__(self, c):
        self.conv = nn.Conv2d(c, c, 3, bias=False)
        self.bn = nn.BatchNorm2d(c)
    def fuse(self):
        layer = nn.Conv2d(8, 8, 3)
        layer.weight.data.copy_(self.conv.weight * self.bn.weight[:, None])
        return layer

# case: a layer by name that goes on into a list [bare]
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self, c, n):
        layers = []
        for _ in range(n):
            conv = nn.Conv2d(c, c, 3)  # TL304
            layers.append(conv)
            layers.append(nn.BatchNorm2d(c))
        self.layers = nn.Sequential(*layers)

# case: the class of a norm that is passed by its position [bare]
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self, norm):
        self.conv = nn.Conv2d(8, 8, 3)  # TL304
        self.bn = norm(8)
    def forward(self, x):
        return self.bn(self.conv(x))
net = Net(nn.BatchNorm2d)

# case: True in parentheses, and on a line of its own [bare]
import torch
from torch import nn
net = nn.Sequential(nn.Conv2d(8, 8, 3, bias=(True)), nn.BatchNorm2d(8))  # TL304
net = nn.Sequential(
    nn.Conv2d(  # TL304
        8, 8, 3,
        bias=  # as by default
        True,
    ),
    nn.BatchNorm2d(8),
)
