# The service with all that it needs, for `docker build .` (docs/install.md). A test runs the same steps in a folder.
ARG NODE_VERSION=24.21.0

FROM node:${NODE_VERSION}-bookworm-slim AS build
WORKDIR /app
# The packages first: a change of the sources installs none of them again.
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY bin bin
COPY clients clients
COPY connectors connectors
COPY console console
COPY processors processors
COPY scripts scripts
COPY src src
RUN npm run build && npm run build:console
# Drivers that this image does without, such as "mssql,opcua": any of kafka, mssql and opcua.
ARG LEAVE_OUT=""
RUN node scripts/image/keep-used-files.ts --without "${LEAVE_OUT}"
COPY packaging/docker/health.js packaging/docker/streamvault release/bin/
# All that the image gets, in one folder. The doctor compares the console with its stamp.
RUN mv package.json dist node_modules release/ && mkdir release/scripts && cp scripts/console-stamp.js release/scripts/ && mkdir /data

FROM node:${NODE_VERSION}-bookworm-slim
ENV NODE_ENV=production \
    PATH=/app/bin:$PATH \
    MALLOC_MMAP_THRESHOLD_=1048576 \
    STREAMVAULT_HOST=0.0.0.0 \
    STREAMVAULT_DATA_DIR=/data
WORKDIR /app
COPY --from=build /app/release ./
COPY --from=build --chown=1000:1000 /data /data
# The user `node` of the base image. Nothing but the volume and /tmp is written to.
USER 1000:1000
VOLUME ["/data"]
EXPOSE 8080 1883 8883
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["node", "/app/bin/health.js"]
# The flags of `npm run start:release`.
ENTRYPOINT ["node", "--max-semi-space-size=8", "--heap-growing-percent=50", "--v8-pool-size=2", "--no-allocation-site-pretenuring", "dist/src/main.js"]
CMD ["serve"]
