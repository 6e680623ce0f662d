import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { expect } from 'vitest'
import type { StartedServices } from './started-services.ts'

/** What a client may have sent, and to whom, when the service is to stop. */
export interface OpenConnection {
  readonly where: 'http' | 'mqtt'
  readonly sent: string
}

export const halfRequest = 'POST /streams HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhalf'

export async function expectStopBy(
  { newFolder, start }: StartedServices,
  signal: NodeJS.Signals,
): Promise<void> {
  const { end, output } = await start(newFolder())

  expect(await end(signal)).toBe(0)
  expect(output()).toContain(`"signal":"${signal}"`)
}

/** Expects that a service which has not yet started ends well, and leaves whole databases. */
export async function expectStopWhileItStarts(
  { newFolder, launch }: StartedServices,
  signal: NodeJS.Signals,
): Promise<void> {
  const folder = newFolder()
  const process = await launch(folder)
  await expect.poll(() => readdirSync(folder)).toContain('journal.db')

  process.signal(signal)

  expect(await process.exited).toBe(0)
  const [, said] = process.output().split('"msg":"stopping"')
  expect(said).not.toContain('listening')
  expect(readdirSync(folder).filter((name) => /-(wal|shm)$|\.wal$/.test(name))).toEqual([])
}

/** Expects that a service stops within 10 s, whatever a client has still to send. */
export async function expectStopBeside(
  { newFolder, start }: StartedServices,
  { where, sent }: OpenConnection,
): Promise<void> {
  const { http, mqttPort, end } = await start(newFolder())
  const socket = await opened(where === 'http' ? Number(new URL(http).port) : mqttPort, sent)
  // The connection was accepted before any that comes after it.
  expect((await fetch(`${http}/health/live`)).status).toBe(200)

  const stoppedMs = performance.now()
  const code = await end('SIGTERM')

  socket.destroy()
  expect(code).toBe(0)
  expect(performance.now() - stoppedMs).toBeLessThan(10_000)
}

/** A connection on which this much was sent, and nothing more. */
export async function opened(port: number, sent: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  if (sent !== '') await new Promise((resolve) => socket.write(sent, 'latin1', resolve))
  return socket
}
