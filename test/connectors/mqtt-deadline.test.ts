import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Deadline } from '../../connectors/mqtt-broker/guard/deadline.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})

afterEach(() => {
  vi.useRealTimers()
})

/** That of a connection with a keep-alive of one second. */
function connected(isDeaf = () => false) {
  const closings: string[] = []
  const deadline = new Deadline({ close: ({ reason }) => closings.push(reason), isDeaf })
  deadline.connected(1)
  return { deadline, closings }
}

/** To the end of the turn: what has arrived is read before. */
async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

test('who says nothing for one and a half times the keep-alive is closed [MQTT-3.1.2-24]', async () => {
  const { closings } = connected()
  vi.advanceTimersByTime(1_499)
  await turn()
  expect(closings).toEqual([])
  vi.advanceTimersByTime(1)
  await turn()
  expect(closings).toEqual(['keep_alive'])
})

test('who has spoken while the thread stood still is heard before he is closed', async () => {
  const { deadline, closings } = connected()
  // Timers go off first, and what has arrived is read behind them.
  vi.advanceTimersByTime(3_000)
  deadline.postpone()
  await turn()
  expect(closings).toEqual([])
  vi.advanceTimersByTime(1_500)
  await turn()
  expect(closings).toEqual(['keep_alive'])
})

test('who is not read is not closed until he could have been heard', async () => {
  let isDeaf = true
  const { closings } = connected(() => isDeaf)
  vi.advanceTimersByTime(1_500)
  await turn()
  isDeaf = false
  vi.advanceTimersByTime(1_499)
  await turn()
  expect(closings).toEqual([])
  vi.advanceTimersByTime(1)
  await turn()
  expect(closings).toEqual(['keep_alive'])
})
