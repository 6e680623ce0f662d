import type { Sample } from './sample.ts'

/** What the newest stream was made from: the page that made it gives way to the one that waits for its readings. */
let kept: { readonly streamId: string; readonly sample: Sample | undefined } | undefined

export function keepSample(streamId: string, sample: Sample | undefined): void {
  kept = { streamId, sample }
}

/** Undefined where there was none, or the page was loaded again since. */
export function sampleFor(streamId: string): Sample | undefined {
  return kept?.streamId === streamId ? kept.sample : undefined
}
