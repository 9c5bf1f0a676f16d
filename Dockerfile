# docker build -t livehouse .                        for a warehouse on a server
# docker build -t livehouse --target embedded .      with the PostgreSQL that DATABASE_URL=embedded starts (60 MB more)
# Both run with a read-only root file system: docker run --read-only --init --env-file .env livehouse sync
# Not on Alpine: the Node that livehouse brings along does not run there, and npm puts it first.
# Images are pinned by digest; docs/security.md says where the digests are from and how to renew them.
FROM node:24.21.0-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS build
WORKDIR /build
COPY . .
# The same package that npm users get, unpacked.
RUN npm ci --ignore-scripts --no-audit --no-fund \
  && npm pack --pack-destination /tmp \
  && mkdir /app \
  && tar -xzf /tmp/livehouse-*.tgz -C /app --strip-components=1 \
  && cp package-lock.json /app

FROM node:24.21.0-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS embedded
ENV NODE_ENV=production LIVEHOUSE_DATA_DIR=/data
WORKDIR /app
COPY --from=build /app ./
# No package needs its install script. The Node of the image is the one that runs.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
  && npm cache clean --force \
  && rm -rf node_modules/node-linux-* \
  && mkdir /data && chown node:node /data
VOLUME /data
USER node
# Of livehouse serve with its page on this address. A worker, or a sync of minutes: docker run --no-healthcheck
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8787/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "bin/livehouse.cjs"]
CMD ["--help"]

FROM node:24.21.0-alpine@sha256:be80f76cf40ec8e42b9bec49f60a55e0660f30af58d3e5a25530785b30ea67e2 AS server
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund && npm cache clean --force
USER node
# Of livehouse serve with its page on this address. A worker, or a sync of minutes: docker run --no-healthcheck
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8787/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "bin/livehouse.cjs"]
CMD ["--help"]
