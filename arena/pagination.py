from rest_framework.pagination import LimitOffsetPagination


class BoundedPagination(LimitOffsetPagination):
    """A larger limit gets a page of this size; `count` and `next` tell that there is more."""

    max_limit = 1000
