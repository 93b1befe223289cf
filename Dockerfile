# What docs/operating/install.md starts: `serve` over a store in /var/lib/bourse; any other command of bourse after the image's name.

# One exact image for both stages: a tag may lead to another image tomorrow. docs/operating/install.md says how to renew it.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6

FROM ${NODE_IMAGE} AS build
WORKDIR /opt/bourse
COPY package.json package-lock.json .npmrc ./
# Without the workspace that brings Node.js to a checkout: the image has it.
RUN npm ci --no-workspaces
COPY tsconfig.json tsconfig.build.json ./
COPY src src
COPY packages packages
RUN npm run build && npm prune --omit=dev --no-workspaces

FROM ${NODE_IMAGE}
WORKDIR /opt/bourse
COPY --from=build /opt/bourse/node_modules node_modules
COPY --from=build /opt/bourse/dist dist
COPY package.json ./
COPY bin bin
COPY examples examples
COPY docs docs
RUN ln -s /opt/bourse/bin/bourse /usr/local/bin/bourse && install -d -o node -g node /var/lib/bourse

# Everything that is ever written lies in the volume, temporary files of imports too: the rest may be read-only.
ENV BOURSE_STORE=sqlite:/var/lib/bourse/bourse.db BOURSE_HOST=0.0.0.0 TMPDIR=/var/lib/bourse
USER node
WORKDIR /var/lib/bourse
VOLUME /var/lib/bourse
EXPOSE 8080

# OPTIONS of a route needs no key and tells nothing; the service answers it only with its store open.
HEALTHCHECK --interval=30s --timeout=5s --start-period=15s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.BOURSE_PORT || 8080}/readyz`).then(({ status }) => process.exit(status === 200 ? 0 : 1), () => process.exit(1))"]

# It ends in `exec node`, so that node is process 1 and gets the signals.
ENTRYPOINT ["bourse"]
CMD ["serve"]
