"""A stack instead of recursion, and a GroupNorm that prints what it was."""

import copy

from torch import nn

EXERCISE = "replace_batchnorm"


class FormerBatchNorm(nn.GroupNorm):
    def extra_repr(self):
        return "was a BatchNorm, " + super().extra_repr()


def replace_batchnorm(model, num_groups):
    model = copy.deepcopy(model)
    print(model)
    stack = [model]
    while stack:
        parent = stack.pop()
        for name, child in list(parent.named_children()):
            stack.append(child)
            if isinstance(child, (nn.BatchNorm1d, nn.BatchNorm2d)):
                new = FormerBatchNorm(num_groups, child.num_features, affine=child.affine).to(child.running_mean)
                new.load_state_dict({k: v for k, v in child.state_dict().items() if k in ("weight", "bias")})
                parent._modules[name] = new
    return model
