FROM node:24-slim

ENV NODE_ENV=production
WORKDIR /app

# The dependencies first: they change less often than the code. No package needs its install script.
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && npm cache clean --force

COPY src ./src
COPY migrations ./migrations
COPY jobs ./jobs

# The embedded PostgreSQL keeps its data here; with DATABASE_URL set to a server, nothing is written.
ENV LIVEHOUSE_DATA_DIR=/data
RUN mkdir /data && chown node:node /data
VOLUME /data
USER node

ENTRYPOINT ["node", "src/cli.ts"]
CMD ["--help"]
