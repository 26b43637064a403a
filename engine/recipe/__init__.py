"""The recipe of the shipped model: corpus, tokenizer, training, evaluation.

`python -m engine.recipe` makes the whole model folder. Nothing else in the project imports this
package; it is here so that the weights can be made again.
"""
