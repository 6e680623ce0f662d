import { once } from 'node:events'

/** Somebody who looks at a stream. */
export interface OpenedConsole {
  readonly apiKey: string
  readonly apiSecret: string
  readonly streamId: string
}

/** What a process with many consoles is told. */
export interface ToOpen {
  readonly http: string
  readonly consoles: readonly OpenedConsole[]
}

/** As the overview does. */
const overviewMs = 10_000

/**
 * Opens consoles, says so once each shows what comes in now, and keeps them open until the parent is gone. What was
 * there before is read from the store once for each console, and is no cost of an open one.
 */
async function main(): Promise<void> {
  const [{ http, consoles }] = (await once(process, 'message')) as [ToOpen]
  process.once('disconnect', () => process.exit())
  const live: Promise<void>[] = []
  for (const [at, { streamId, ...key }] of consoles.entries()) {
    const headers = {
      origin: http,
      'x-streamvault-interface': 'bearer',
      'content-type': 'application/json',
    }
    const signedIn = await fetch(`${http}/console/session`, {
      method: 'POST',
      headers,
      body: JSON.stringify(key),
    })
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
    if (!signedIn.ok || cookie === '') throw new Error(`signing in: ${signedIn.status}`)
    const asked = { headers: { ...headers, cookie } }
    await follow(`${http}/notifications/in-app/stream`, asked)
    const tail = await follow(`${http}/streams/${streamId}/tail?last=600`, asked)
    live.push(tail.isLive)
    setTimeout(
      () => {
        void look(http, asked)
        setInterval(() => void look(http, asked), overviewMs)
      },
      (overviewMs * at) / consoles.length,
    )
  }
  await Promise.all(live)
  process.send?.('open')
}

/** Follows events until the process ends; `isLive` resolves with the first reading of after the opening. */
async function follow(
  address: string,
  asked: RequestInit,
): Promise<{ readonly isLive: Promise<void> }> {
  const openedAt = new Date().toISOString()
  const answer = await fetch(address, asked)
  if (!answer.ok) throw new Error(`${address}: ${answer.status} ${await answer.text()}`)
  const { promise: isLive, resolve } = Promise.withResolvers<void>()
  const write = (chunk: string) => {
    const times = chunk.matchAll(/"timestamp":"([^"]+)"/g)
    if (times.some(([, time = '']) => time > openedAt)) resolve()
  }
  void answer.body?.pipeThrough(new TextDecoderStream()).pipeTo(new WritableStream({ write }))
  return { isLive }
}

async function look(http: string, asked: RequestInit): Promise<void> {
  const answer = await fetch(`${http}/overview`, asked)
  if (!answer.ok) throw new Error(`/overview: ${answer.status}`)
  await answer.arrayBuffer()
}

await main()
