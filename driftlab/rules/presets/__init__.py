"""One file a policy that ships."""
