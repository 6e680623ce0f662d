import type { Logger } from 'pino'
import type { Service } from '../app.ts'
import { ConfigError, readConfig } from '../config/config.ts'
import { messageOf } from '../core/errors.ts'
import { createLogger } from '../observability/logger.ts'
import { type Command, CommandError, exitCodes } from './command.ts'

/** Longest time that stopping may take. What was acknowledged is on disk in any case. */
const stopMsMax = 9_000

async function run(isJson: boolean): Promise<never> {
  const config = readConfig(process.env)
  const logger = createLogger(config.logLevel)
  const { startService } = await import('../app.ts')
  const service = await startService(config, logger)
  stopOnSignals(service, logger)
  if (config.tls !== undefined) reloadOnSignal(service, logger)
  if (service.adminFile !== undefined) {
    logger.info({ file: service.adminFile }, 'the bootstrap key is in this file')
  }
  announce(service, logger, isJson)
  return await service.failed
}

/** Others wait for this line, so it is printed whatever the log level is. */
function announce(service: Service, logger: Logger, isJson: boolean): void {
  const { httpAddress, mqttAddress, mqttsAddress } = service
  const mqtts = mqttsAddress !== undefined && { mqtts: mqttsAddress }
  const addresses = { http: httpAddress, mqtt: mqttAddress ?? 'off', ...mqtts }
  if (logger.isLevelEnabled('info')) logger.info(addresses, 'listening')
  else if (isJson) process.stdout.write(`${JSON.stringify({ ...addresses, msg: 'listening' })}\n`)
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
export const serve: Command = {
  name: 'serve',
  summary: 'Run the service until it is told to stop.',
  description:
    'Prints `listening` with its addresses when it takes readings; its log is JSON in any case. ' +
    '`npm start` does the same.',
  operands: [],
  options: [],
  async run({ isJson }) {
    try {
      return await run(isJson)
    } catch (error) {
      // Threads may still be running: whatever was acknowledged is on disk.
      process.exitCode = exitCodes.failed
      setImmediate(() => process.exit())
      if (error instanceof ConfigError) throw error
      const message = `cannot go on: ${messageOf(error)}`
      throw new CommandError('cannot_go_on', message, { cause: error })
    }
  },
}
