/** What waits for a promise, and what has become of it. */
interface Contender {
  readonly waiting: Set<PromiseWithResolvers<unknown>>
  /** Undefined until it is settled. */
  hand: ((one: PromiseWithResolvers<unknown>) => void) | undefined
}

const contenders = new WeakMap<Promise<unknown>, Contender>()

/**
 * As `Promise.race`, without what that leaves behind: a promise that lasts, such as the end of a connection,
 * keeps every race that it was in until it is settled (https://github.com/nodejs/node/issues/17469). Here it
 * forgets a race that is over.
 *
 * @throws what the first of them to be settled was rejected with
 */
export async function race<const Promises extends readonly unknown[]>(
  promises: Promises,
): Promise<Awaited<Promises[number]>> {
  const outcome = Promise.withResolvers<unknown>()
  const all = promises.map((one) => contenderOf(Promise.resolve(one)))
  for (const one of all) {
    if (one.hand) one.hand(outcome)
    else one.waiting.add(outcome)
  }
  try {
    return (await outcome.promise) as Awaited<Promises[number]>
  } finally {
    for (const one of all) one.waiting.delete(outcome)
  }
}

function contenderOf(promise: Promise<unknown>): Contender {
  const known = contenders.get(promise)
  if (known) return known
  const contender: Contender = { waiting: new Set(), hand: undefined }
  contenders.set(promise, contender)
  const finish = (hand: (one: PromiseWithResolvers<unknown>) => void): void => {
    contender.hand = hand
    for (const one of contender.waiting) hand(one)
    contender.waiting.clear()
  }
  promise.then(
    (value) => finish((one) => one.resolve(value)),
    (error: unknown) => finish((one) => one.reject(error)),
  )
  return contender
}
