"""Random numbers that are functions of (key, cell), and the draws made from them: counts, normals, exact samples."""
