// Nothing of its own: the target that this file belongs to exists for its precompiled headers.
