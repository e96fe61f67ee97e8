"""Tests of HELM's notation: entries, names, expanders, clients, exports."""
