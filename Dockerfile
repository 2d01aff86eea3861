# The operator's image: docker build -t IMAGE .
#
# tools/image says what is in it, for this file and for the layout that needs no container engine.
FROM debian:bookworm AS build
WORKDIR /src
COPY . .
RUN tools/deps build && apt-get install --yes --no-install-recommends python3 ca-certificates binutils
RUN tools/build release capi-operator && tools/image --root /image

FROM scratch
COPY --from=build /image /
USER 65532:65532
WORKDIR /
EXPOSE 8443 9440 9443
ENTRYPOINT ["/capi-operator"]
