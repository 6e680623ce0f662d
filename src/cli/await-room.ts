import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import { readCertificate } from '../config/tls-files.ts'
import { makeFolder } from '../core/make-folder.ts'

/** A start writes less than this: logs of SQLite are read again, and DuckDB's is put into its file. */
const startBytes = 4 * 1024 * 1024

const everyMs = 1_000
const retryAfterSeconds = 5

/** Only monitors ask anything here. */
const connectionsMax = 1_000

const problem = 'no space is left on the disk with the data'

/** Whether a file of some megabytes can be written into the data folder. Removes it again. */
export function hasRoomToStart(dataDir: string): boolean {
  const path = join(dataDir, 'room-to-start')
  try {
    makeFolder(dataDir, 0o700)
    const file = openSync(path, 'w', 0o600)
    try {
      const block = Buffer.alloc(64 * 1024, 1)
      for (let bytes = 0; bytes < startBytes; bytes += block.length) writeSync(file, block)
      fsyncSync(file)
    } finally {
      closeSync(file)
      rmSync(path, { force: true })
    }
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Nothing else that is wrong with the folder is fixed by waiting.
    return code !== 'ENOSPC' && code !== 'EDQUOT'
  }
}

/**
 * Stands in for a service that cannot start because its disk is full: answers that it lives and is not ready, and
 * resolves when there is room.
 */
export async function awaitRoom(config: Config, logger: Logger): Promise<void> {
  const server = standIn(config)
  // Where the address is taken no one can be answered, and the start waits for the disk all the same.
  server.on('error', (error) =>
    logger.warn({ err: error }, 'the full disk cannot be reported over HTTP'),
  )
  server.listen(config.httpPort, config.host, () =>
    logger.warn({ http: server.address() }, `${problem}: the start waits for room`),
  )
  while (!hasRoomToStart(config.dataDir)) await sleep(everyMs)
  logger.info('there is room on the disk again')
  server.close()
  server.closeAllConnections()
}

function standIn({ tls }: Config): Server {
  const server = tls ? createTlsServer(readCertificate(tls), refuse) : createServer(refuse)
  server.maxConnections = connectionsMax
  return server
}

const refuse: RequestListener = ({ url = '' }, response) => {
  const [path] = url.split('?')
  const [status, body] = answerTo(path)
  response.setHeader('content-type', 'application/json; charset=utf-8')
  response.setHeader('connection', 'close')
  if (status === 503) response.setHeader('retry-after', retryAfterSeconds)
  response.writeHead(status).end(JSON.stringify(body))
}

function answerTo(path: string | undefined): readonly [number, object] {
  if (path === '/health/live') return [200, { status: 'live' }]
  if (path === '/health' || path === '/health/ready') {
    return [503, { status: 'not_ready', failing: { disk: problem }, degraded: {} }]
  }
  const retry = { statusCode: 503, retryAfter: retryAfterSeconds }
  return [503, { error: 'disk_low', message: problem, ...retry }]
}
