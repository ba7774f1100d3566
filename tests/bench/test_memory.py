"""What training keeps in memory is counted by storages."""

from __future__ import annotations

import torch
from torch import nn

from gradaccum.memory import bytes_held, saved_tensors


def test_a_storage_is_counted_once_and_whole_however_many_views_it_has():
    h = torch.zeros(10, 6)
    assert bytes_held([h[:, :2], h[0], h.T]) == h.nbytes


def test_tensors_that_share_storage_with_an_excluded_one_are_not_counted():
    h, other = torch.zeros(10, 6), torch.zeros(3)
    assert bytes_held([h.T, other], without=[h]) == other.nbytes


def test_saved_tensors_come_in_order_with_views_of_weights_and_inputs_among_them():
    layers = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1))
    x = torch.ones(5, 3)
    out, kept = saved_tensors(lambda: layers(x))
    assert out.shape == (5, 1)
    assert [tuple(tensor.shape) for tensor in kept] == [(5, 3), (5, 2), (2, 1)]
    assert kept[0].data_ptr() == x.data_ptr()
    assert kept[2].data_ptr() == layers[1].weight.data_ptr()


def test_watching_saved_tensors_does_not_change_the_gradient():
    layer, x = nn.Linear(3, 2), torch.ones(5, 3)
    layer(x).sum().backward()
    due, layer.weight.grad = layer.weight.grad, None
    loss, _ = saved_tensors(lambda: layer(x).sum())
    loss.backward()
    assert torch.equal(layer.weight.grad, due)
