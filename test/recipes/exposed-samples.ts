import type { SentSeries } from '../support/prometheus/remote-write-bodies.ts'

/** Series of one sample each, from lines as an exporter shows them, with times in milliseconds. */
export function seriesOfText(text: string): readonly SentSeries[] {
  return text.split('\n').map((line) => {
    const [, metric = '', labels = '', value, timeMs] =
      /^(\w+)\{([^}]*)\} (\S+) (\d+)$/.exec(line) ?? []
    if (timeMs === undefined) throw new Error(`no sample: ${line}`)
    const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)]
    return {
      labels: [
        ['__name__', metric] as const,
        ...pairs.map(([, name = '', own = '']) => [name, own] as const),
      ],
      samples: [{ value: Number(value), timeMs: Number(timeMs) }],
    }
  })
}
