"""An algorithm of one's own in PyTorch beside cn-ucb, on the same draws: an ensemble of small networks, each trained on a resampling of
what was seen (bootstrapped Thompson sampling, Osband and Van Roy, 2015). A round asks one network, drawn at random.

    python3 torch_network.py [--quick]
"""

import sys

import torch

import superarm


class BootstrappedNetworks:
    def __init__(self, run, networks=5, hidden=50, steps=40, every=10, rate=0.01):
        torch.set_num_threads(1)
        self.generator = torch.Generator().manual_seed(run)  # a run's random numbers are its own, so that it can be repeated
        self.networks, self.hidden, self.steps, self.every, self.rate = networks, hidden, steps, every, rate
        self.models, self.contexts, self.scores = None, [], []

    def make(self, dim):
        def layer(rows, columns):
            return torch.nn.Parameter(torch.randn(rows, columns, generator=self.generator) * (2 / columns) ** 0.5)

        self.models = [(layer(self.hidden, dim), layer(1, self.hidden)) for _ in range(self.networks)]
        self.optimizers = [torch.optim.Adam(model, lr=self.rate, weight_decay=1e-4) for model in self.models]

    def forward(self, model, x):
        return (torch.relu(x @ model[0].T) @ model[1].T).squeeze(1)

    def select(self, contexts, k):
        if self.models is None:
            self.make(contexts.shape[1])
        model = self.models[int(torch.randint(self.networks, (1,), generator=self.generator))]
        with torch.no_grad():
            scores = self.forward(model, torch.tensor(contexts, dtype=torch.float32))
        return torch.topk(scores, k).indices

    def update(self, arms, scores, contexts, round):
        self.contexts.append(torch.tensor(contexts, dtype=torch.float32))
        self.scores.append(torch.tensor(scores, dtype=torch.float32))
        if round % self.every:
            return
        x, y = torch.cat(self.contexts), torch.cat(self.scores)
        for model, optimizer in zip(self.models, self.optimizers):
            rows = torch.randint(len(y), (len(y),), generator=self.generator)
            for _ in range(self.steps):
                optimizer.zero_grad()
                torch.mean((self.forward(model, x[rows]) - y[rows]) ** 2).backward()
                optimizer.step()


def main():
    quick = "--quick" in sys.argv
    results = superarm.run("h2", {"networks": BootstrappedNetworks, "cn-ucb": "cn-ucb", "random": "random"}, dim=8, rounds=100 if quick else 1000,
                           runs=2 if quick else 8)
    for label, line in results.summary(as_dict=True).items():
        print(f"{label:12} regret {line['expected_regret']:7.1f}, {line['seconds_per_run']:.2f} s a run")
    return results


if __name__ == "__main__":
    main()
