"""A shop's home page in Python: superarm serve --dir shop, then python3 examples/service/shop.py [http://127.0.0.1:8080]"""
import sys

from superarm import Client

shop = Client(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080")
shop.put_agent("python", {"algorithm": "cn-ucb", "dim": 2}, slate=2, default_feedback=0, wait_seconds=0)
answer = shop.decide("python", contexts=[[0, 1], [1, 0], [0.5, 0.5]])
shop.feedback("python", answer["event"], [1, 0])  # the first of the two was clicked
print("chosen:", answer["slate"], "learnt:", shop.agent("python")["counts"]["learnt"])
