"""torch's DataLoader, where torch is installed: forked and spawned workers take crops of one array."""

import numpy as np
import pytest

import b2nd

torch = pytest.importorskip("torch")


class Crops(torch.utils.data.Dataset):
    def __init__(self, array):
        self.array = array

    def __len__(self):
        return 64

    def __getitem__(self, n):
        at = n % 40
        return n, torch.from_numpy(self.array[n % 3, at : at + 16, at : at + 16])


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_data_loader_takes_crops(method, path):
    items = np.random.default_rng(0).normal(size=(3, 64, 64)).astype("f4")
    b2nd.array(items, urlpath=path, chunks=(1, 32, 32), blocks=(1, 8, 8)).close()
    array = b2nd.open(path)
    array[...]
    loader = torch.utils.data.DataLoader(Crops(array), batch_size=4, num_workers=8, multiprocessing_context=method)
    for numbers, batch in loader:
        for n, crop in zip(numbers.tolist(), batch.numpy(), strict=True):
            at = n % 40
            np.testing.assert_array_equal(crop, items[n % 3, at : at + 16, at : at + 16])
