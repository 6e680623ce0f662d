import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import type { TlsFiles } from '../../config/tls-files.ts'
import { readCertificate } from '../../config/tls-files.ts'
import { wallDate } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import { type Check, fail, ok, type Surroundings, warn } from './check.ts'
import { octal } from './folder-checks.ts'

/** The ports that the service takes: free, or taken by the service itself. */
export async function checkPorts(surroundings: Surroundings): Promise<Check[]> {
  const { httpPort, mqttPort, mqttsPort, tls } = surroundings.config
  const http = { name: 'http port', setting: 'STREAMVAULT_HTTP_PORT', scheme: 'http' }
  const mqtt = { name: 'mqtt port', setting: 'STREAMVAULT_MQTT_PORT', scheme: 'mqtt' }
  const mqtts = { name: 'mqtts port', setting: 'STREAMVAULT_MQTTS_PORT', scheme: 'mqtts' }
  return [
    httpPort === 0 ? ok(http.name, 'any free one') : await checkPort(surroundings, http, httpPort),
    mqttPort === 0 ? ok(mqtt.name, 'off') : await checkPort(surroundings, mqtt, mqttPort),
    ...(tls === undefined || mqttsPort === 0
      ? []
      : [await checkPort(surroundings, mqtts, mqttsPort)]),
  ]
}

interface Port {
  readonly name: string
  readonly setting: string
  readonly scheme: string
}

interface RefusedPort extends Pick<Port, 'name' | 'setting'> {
  readonly host: string
  readonly port: number
}

async function checkPort(
  { config, owner }: Surroundings,
  { name, setting, scheme }: Port,
  port: number,
): Promise<Check> {
  const where = `${config.host}:${port}`
  const isOurs = owner?.addresses.some(
    (address) => address.startsWith(scheme) && address.endsWith(`:${port}`),
  )
  if (isOurs) return ok(name, `${where} is taken by our service`)
  const problem = await problemOfListening(config.host, port)
  if (problem === undefined) return ok(name, `${where} is free`)
  return refusedPort({ name, setting, host: config.host, port }, problem)
}

/** Why nobody can listen there, and what to do. */
export function refusedPort(
  { name, setting, host, port }: RefusedPort,
  problem: NodeJS.ErrnoException,
): Check {
  const where = `${host}:${port}`
  if (problem.code === 'EADDRINUSE') {
    const advice = `set ${setting} to another port, or end what listens there: ss -ltnp`
    return fail(name, `${where} is taken by another process`, advice)
  }
  if (problem.code === 'EADDRNOTAVAIL' || problem.code === 'ENOTFOUND') {
    const advice = 'set STREAMVAULT_HOST to an address of this machine, or to 0.0.0.0'
    return fail(name, `${host} is not an address of this machine`, advice)
  }
  if (problem.code === 'EACCES') {
    const advice = `set ${setting} to a port from 1024 on, or allow it: CAP_NET_BIND_SERVICE`
    return fail(name, `${where} may not be taken by this user`, advice)
  }
  return fail(name, `${where} cannot be taken: ${problem.message}`, `set ${setting}`)
}

async function problemOfListening(
  host: string,
  port: number,
): Promise<NodeJS.ErrnoException | undefined> {
  const server = createServer().listen(port, host)
  try {
    await once(server, 'listening')
    server.close()
    await once(server, 'close')
    return undefined
  } catch (error) {
    return error as NodeJS.ErrnoException
  }
}

const msPerDay = 86_400_000

/** A certificate is renewed before it has less than this left. */
const daysWanted = 14

/** Certificate and key: readable, belonging together, and good for some time. */
export function checkTls({ config }: Surroundings): Check {
  const { tls } = config
  if (tls === undefined) return ok('tls', 'off: no certificate is set')
  try {
    readCertificate(tls)
  } catch (error) {
    const advice = 'set STREAMVAULT_TLS_CERT and _TLS_KEY to PEM files that belong together'
    return fail('tls', `certificate and key are no good: ${messageOf(error)}`, advice)
  }
  return checkDates(tls)
}

function checkDates({ certPath, keyPath }: TlsFiles): Check {
  const { validFrom, validTo } = new X509Certificate(readFileSync(certPath))
  const renewal = 'renew it, put both files in their places, and send SIGHUP to the service'
  const nowMs = wallDate().getTime()
  const daysLeft = (Date.parse(validTo) - nowMs) / msPerDay
  if (daysLeft < 0) return fail('tls', `the certificate has expired: ${validTo}`, renewal)
  if (Date.parse(validFrom) > nowMs) {
    const advice = 'look at the clock of this machine, or at the certificate'
    return fail('tls', `the certificate is not valid before ${validFrom}`, advice)
  }
  if (daysLeft < daysWanted) {
    return warn('tls', `the certificate expires in ${Math.floor(daysLeft)} days`, renewal)
  }
  const { mode } = statSync(keyPath)
  if ((mode & 0o007) !== 0) {
    const message = `everybody can read the key (mode ${octal(mode)})`
    return warn('tls', message, `chmod 600 ${keyPath}`)
  }
  return ok('tls', `the certificate is good until ${validTo}`)
}
