"""The boundary between graph and C: a program is a straight line of calls of primitive functions.

Code before it never mentions C; code after it never mentions ops or layers, except as quoted text.
"""
