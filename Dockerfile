# An image of Weir, built from source on Debian:
#   docker build -t weir .
# `docker compose up` uses it (compose.yaml). script/image makes a smaller one without a registry; both contain the same
# package with the same configuration, deploy/image/weir.yaml.
FROM debian:bookworm AS build

COPY . /src
WORKDIR /src
# script/package installs what the build needs and writes build/package/weir_*.deb.
RUN script/package

FROM debian:bookworm-slim

COPY --from=build /src/build/package/weir_*.deb /tmp/
# deploy/kubernetes uses the same user id.
RUN groupadd --system --gid 65532 weir \
 && useradd --system --uid 65532 --gid weir --home-dir /var/lib/weir --no-create-home --shell /usr/sbin/nologin weir \
 && apt-get update \
 && apt-get install -y --no-install-recommends /tmp/weir_*.deb ca-certificates \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt /tmp/weir_*.deb /var/log/* \
 && install -d -o weir -g weir -m 0700 /var/lib/weir
COPY deploy/image/weir.yaml /etc/weir/weir.yaml

ENV STATE_DIRECTORY=/var/lib/weir
USER 65532:65532
EXPOSE 8080 8081 6390 8089
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["/usr/bin/weir", "health"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/weir"]
CMD ["serve"]
