"""TLS with an authority of its own that lives as long as the server: for clients that refuse to speak without."""

from __future__ import annotations

import os
import ssl
import tempfile
from pathlib import Path

from harness.errors import MissingExtraError


class Authority:
    """A throw-away authority with a certificate for loopback. `file` has the authority's certificate, to be trusted by
    clients (`SSL_CERT_FILE`, `AWS_CA_BUNDLE`, `NODE_EXTRA_CA_CERTS`, `REQUESTS_CA_BUNDLE`); `close` removes it."""

    def __init__(self, *names: str) -> None:
        try:
            import trustme
        except ImportError:
            raise MissingExtraError("TLS needs the package trustme", hint="pip install 'streamproof[tls]'") from None
        authority = trustme.CA()
        certificate = authority.issue_cert("localhost", "127.0.0.1", "::1", *names)
        self.context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.context.set_alpn_protocols(["h2", "http/1.1"])
        certificate.configure_cert(self.context)
        handle, name = tempfile.mkstemp(prefix="streamproof-ca-", suffix=".pem")
        os.close(handle)
        self.file = Path(name)
        authority.cert_pem.write_to_path(name)

    def close(self) -> None:
        self.file.unlink(missing_ok=True)
