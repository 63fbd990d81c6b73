"""Roles of columns, one file each: what suits a role, what it learns, what it adds to views."""
