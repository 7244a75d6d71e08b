# Dependencies first: they change less often than the code, and the layer is kept until they do.
FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY service/package.json service/
COPY simulator/package.json simulator/
COPY dashboard/package.json dashboard/
COPY client/package.json client/
COPY bench/package.json bench/
RUN npm ci --workspace service --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM node:24-bookworm-slim AS dashboard
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY service/package.json service/
COPY simulator/package.json simulator/
COPY dashboard/package.json dashboard/
COPY client/package.json client/
COPY bench/package.json bench/
RUN npm ci --workspace dashboard --include=dev --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY dashboard dashboard
RUN npm run build --workspace dashboard

FROM node:24-bookworm-slim
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=8080 \
    DATA_DIR=/data
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY LICENSE package.json ./
COPY docs docs
COPY service service
COPY --from=dashboard /app/dashboard/dist dashboard/dist
# What is built, for its log and /health: the history is not copied.
ARG COMMIT=
RUN echo "$COMMIT" > commit
# The only folder that the service writes to: the rest of the file system may be read-only.
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/livez`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# No shell in between, so that a stop reaches the service. The option is explained in docs/performance.md.
CMD ["node", "--min-semi-space-size=8", "--max-semi-space-size=8", "service/src/main.ts"]
