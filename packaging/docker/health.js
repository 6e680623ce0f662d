// The health check of the image: ends with 0 while the service in the same container is ready.
const { STREAMVAULT_HTTP_PORT: port, STREAMVAULT_TLS_CERT: certificate } = process.env
const protocol = certificate ? 'https' : 'http'
const { get } = await import(`node:${protocol}`)

/** The certificate is for the name that clients use, which is not this one. */
const options = { host: '127.0.0.1', port: port || 8080, path: '/health/ready', rejectUnauthorized: false, timeout: 4_000 }

get(options, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1))
  .on('timeout', () => process.exit(1))
  .on('error', () => process.exit(1))
