import { connectAsync } from 'mqtt'
import { expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'
import { makeCertificate } from '../support/certificate.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'
import { startedServices } from '../support/started-services.ts'

const { newFolder, launch } = startedServices()

/** Node tells a server in this way that the system could not accept a connection. Each is told so once it listens. */
const failing = `
  import { tracingChannel } from 'node:diagnostics_channel'
  tracingChannel('net.server.listen').subscribe({
    asyncEnd: ({ server }) =>
      setTimeout(() => server.emit('error', new Error('accept ENFILE at a port')), 500),
  })`

test('a connection that the system cannot accept ends nothing, at any port', async () => {
  const certificate = makeCertificate(newFolder())
  const process = await launch(newFolder(), {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(failing)}`,
    STREAMVAULT_TLS_CERT: certificate.certPath,
    STREAMVAULT_TLS_KEY: certificate.keyPath,
    STREAMVAULT_MQTTS_PORT: String(await freePort()),
  })
  const { mqttPort } = await process.listening()

  await expect
    .poll(() => process.output().match(/"unexpected failure"/g), { timeout: 30_000 })
    .toHaveLength(3)

  const username = adminKey
  const client = await connectAsync(`mqtt://127.0.0.1:${mqttPort}`, {
    username,
    password: adminSecret,
  })
  await client.endAsync()
  expect(process.output()).not.toContain('nothing was waiting')
  process.signal('SIGTERM')
  expect(await process.exited).toBe(0)
})
