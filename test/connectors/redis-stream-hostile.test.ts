import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { redisStream } from '../../connectors/redis-stream/redis-stream.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { RecordedRun } from '../support/recorded-run.ts'

const closings: (() => void)[] = []

afterEach(() => {
  vi.useRealTimers()
  for (const close of closings.splice(0)) close()
})

/** What is said to everything that is asked; nothing more than that is known of Redis. */
async function runAgainst(answer: (socket: Socket) => void, more: object = {}) {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', () => answer(socket))
    closings.push(() => socket.destroy())
  }).listen(0, '127.0.0.1')
  closings.push(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const source = { protocol: 'redis', endpoint: `redis://127.0.0.1:${port}`, topic: 'a', ...more }
  return new RecordedRun(redisStream.open({ streamId: newId<StreamId>(), source }), port)
}

describe('what answers instead of a server of Redis', () => {
  test.each<[string, string, RegExp]>([
    [
      'a node of a cluster',
      '-MOVED 3999 10.0.0.7:6381\r\n',
      /SourceRefused: .*another node.*10\.0\.0\.7:6381/,
    ],
    [
      'one that asks for a password',
      '-NOAUTH Authentication required.\r\n',
      /SourceRefused: .*asks for a password/,
    ],
    ['one that is too old', "-ERR unknown command 'XINFO'\r\n", /SourceRefused: .*too old/],
    [
      'one that is loading',
      '-LOADING Redis is loading the dataset in memory\r\n',
      /^Error: LOADING/,
    ],
    [
      'one that waits for its master',
      '-MASTERDOWN Link with MASTER is down\r\n',
      /^Error: MASTERDOWN/,
    ],
    [
      'a server of the web',
      'HTTP/1.1 400 Bad Request\r\n\r\n',
      /^Error: .*does not speak as Redis/,
    ],
    ['somebody who answers nothing twice', '$-1\r\n$-1\r\n', /^Error: /],
    ['somebody who pushes', '>1\r\n_\r\n', /does not speak as Redis/],
    ['somebody with other answers', '+OK\r\n', /^Error: /],
    ['somebody whose ids are none', '*2\r\n$17\r\nlast-generated-id\r\n$1\r\nx\r\n', /^Error: /],
  ])('may be %s', async (_, answer, message) => {
    const run = await runAgainst((socket) => socket.write(answer))
    expect(String(await run.ended)).toMatch(message)
  })

  test('may repeat a password, which is not kept with the error', async () => {
    const credentials = { password: 'hunter2-of-the-test' }
    const run = await runAgainst((socket) => socket.write('-WRONGPASS no\r\n'), { credentials })
    const failure = await run.ended
    expect(failure).toMatchObject({ name: 'SourceRefused' })
    expect(JSON.stringify(failure, Object.getOwnPropertyNames(failure))).not.toContain('hunter2')
  })

  test('may send without an end', async () => {
    const run = await runAgainst((socket) => {
      socket.write('*1000000000\r\n')
      const part = Buffer.from('$-1\r\n'.repeat(10_000))
      const more = () => {
        while (!socket.destroyed && socket.write(part));
      }
      socket.on('drain', more)
      more()
    })
    expect(String(await run.ended)).toMatch(/too much at once/)
  })

  test.each([
    ['half an answer', '*2\r\n$17\r\nlast-gen'],
    ['nothing', ''],
  ])('may say %s, and then nothing', async (_, answer) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const asked = Promise.withResolvers<void>()
    const run = await runAgainst((socket) => {
      asked.resolve()
      socket.write(answer)
    })
    await asked.promise
    await vi.advanceTimersByTimeAsync(15_000)
    expect(String(await run.ended)).toMatch(/not answered in time/)
  })

  test('may hang up', async () => {
    const run = await runAgainst((socket) => socket.end('+O'))
    expect(String(await run.ended)).toMatch(/closed the connection/)
  })
})
