import { existsSync } from 'node:fs'
import type { Logger } from 'pino'
import { type Service, startService } from '../app.ts'
import { ConfigError, readConfig } from '../config/config.ts'
import { messageOf } from '../core/errors.ts'
import { createLogger } from '../observability/logger.ts'

/** Longest time that stopping may take. What was acknowledged is on disk in any case. */
const stopMsMax = 9_000

async function run(): Promise<void> {
  if (existsSync('.env')) process.loadEnvFile('.env')
  const config = readConfig(process.env)
  const logger = createLogger(config.logLevel)
  const service = await startService(config, logger)
  stopOnSignals(service, logger)
  if (config.tls !== undefined) reloadOnSignal(service, logger)
  if (service.adminFile !== undefined) {
    logger.info({ file: service.adminFile }, 'the bootstrap key is in this file')
  }
  announce(service, logger)
  await service.failed
}

/** Others wait for this line, so it is printed whatever the log level is. */
function announce(service: Service, logger: Logger): void {
  const { httpAddress, mqttAddress, mqttsAddress } = service
  const mqtts = mqttsAddress !== undefined && { mqtts: mqttsAddress }
  const addresses = { http: httpAddress, mqtt: mqttAddress ?? 'off', ...mqtts }
  if (logger.isLevelEnabled('info')) logger.info(addresses, 'listening')
  else process.stdout.write(`listening ${addresses.http} ${addresses.mqtt}\n`)
}

/** A certificate that was renewed is put to use without a restart. */
function reloadOnSignal(service: Service, logger: Logger): void {
  process.on('SIGHUP', () => {
    try {
      service.reloadCertificate()
      logger.info('the certificate was read again')
    } catch (error) {
      logger.error({ err: error }, 'the certificate is no good: the old one stays in use')
    }
  })
}

function stopOnSignals(service: Service, logger: Logger): void {
  let isStopping = false
  const stop = (signal: string) => {
    if (isStopping) process.exit(1)
    isStopping = true
    logger.info({ signal }, 'stopping')
    setTimeout(() => process.exit(1), stopMsMax).unref()
    service.close().then(
      () => process.exit(0),
      (error: unknown) => {
        logger.error({ err: error }, 'stopping failed')
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

/** Runs the service until it is told to stop, or cannot go on. */
export async function serve(): Promise<void> {
  try {
    await run()
  } catch (error) {
    if (error instanceof ConfigError) process.stderr.write(`${error.message}\n`)
    else process.stderr.write(`streamvault cannot go on: ${messageOf(error)}\n`)
    process.exit(1)
  }
}
