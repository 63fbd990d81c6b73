"""Images as views: colours, and visual words cut at points of interest; needs the extra ``images`` (scikit-image)."""

from harmonium.features.images.colours import colour_histogram, colour_names, hsv_histogram, hsv_names
from harmonium.features.images.patches import PatchSet, cut_patches, interest_patches
from harmonium.features.images.points import InterestPoints, interest_points
from harmonium.features.images.reading import colour_image, decoded_image, grey_image
from harmonium.features.images.views import ImageViews
from harmonium.features.images.words import VisualWords

__all__ = [
    "ImageViews",
    "InterestPoints",
    "PatchSet",
    "VisualWords",
    "colour_histogram",
    "colour_image",
    "colour_names",
    "cut_patches",
    "decoded_image",
    "grey_image",
    "hsv_histogram",
    "hsv_names",
    "interest_patches",
    "interest_points",
]
