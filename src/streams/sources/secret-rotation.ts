import type { SourceSecrets } from '../data-streams/source-secrets.ts'

/** Where the secret of a webhook stands in its source. */
const place = 'credentials.secret'

/** Places beside the secrets of the source: no definition has them. */
const previousPlace = 'previous secret'
const untilPlace = 'previous until'

/** Secrets after a new one has taken the place of the newest: the one before that is good no more. */
export function withNewSecret(
  { [place]: old }: SourceSecrets,
  { secret, previousUntilUs }: { readonly secret: string; readonly previousUntilUs: number },
): SourceSecrets {
  const ended = { [place]: secret }
  if (old === undefined) return ended
  return { ...ended, [previousPlace]: old, [untilPlace]: String(previousUntilUs) }
}

/** What else stays good when a definition is changed without changing its secret. */
export function overlapOf(kept: SourceSecrets, next: SourceSecrets): SourceSecrets {
  const { [previousPlace]: previous, [untilPlace]: until } = kept
  if (previous === undefined || until === undefined || next[place] !== kept[place]) return {}
  return { [previousPlace]: previous, [untilPlace]: until }
}

/** The secret before the newest, and until when (µs) it is good. */
export function previousSecretOf({ [previousPlace]: secret, [untilPlace]: until }: SourceSecrets) {
  if (secret === undefined || until === undefined) return undefined
  return { secret, untilUs: Number(until) }
}
