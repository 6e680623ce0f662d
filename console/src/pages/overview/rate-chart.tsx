import { Time } from '../../components/time.tsx'
import { curvePath, largestOf, roundMax } from '../../formats/curves.ts'
import { rate } from '../../formats/numbers.ts'
import { dateTime } from '../../formats/times.ts'
import { paths, withQuery } from '../../routing/paths.ts'
import { minuteAt, type OverviewFacts, type Rates, rateNames, ratesOf } from './rates.ts'

const width = 590
const height = 100

const linkOf = {
  received: withQuery(paths.streams, { sort: '-rate' }),
  stored: withQuery(paths.streams, { sort: '-rate' }),
  quarantined: paths.quarantine,
} as const

/** Readings a second over the last hour, minute by minute, with what comes now as its legend. */
export function RateChart({ facts }: { readonly facts: OverviewFacts }) {
  const rates = ratesOf(facts)
  const max = roundMax(largestOf(Object.values(rates)))
  const startMs = Date.parse(facts.perMinute.start)
  const unknown = rates.received.findIndex((value) => value !== null)
  return (
    <section class="card overview-rates" aria-labelledby="overview-rates">
      <div class="overview-rates-head">
        <h2 id="overview-rates">Readings a second, last hour</h2>
        <ul class="overview-legend">
          {rateNames.map((name) => (
            <li key={name}>
              <svg viewBox="0 0 24 8" aria-hidden="true" class={`overview-line ${name}`}>
                <path d="M0 4L24 4" />
              </svg>
              <a href={linkOf[name]}>
                {name} <strong>{rate(facts.perSecond[name])}</strong>
              </a>
            </li>
          ))}
        </ul>
      </div>
      <div class="overview-plot">
        <span class="overview-max soft">{rate(max)}</span>
        <svg
          viewBox={`0 -2 ${width} ${height + 4}`}
          preserveAspectRatio="none"
          role="img"
          aria-label="Readings a second, minute by minute. The same figures are in the table below."
        >
          {unknown !== 0 && <UnknownPart rates={rates} unknown={unknown} />}
          <path
            class="overview-grid"
            d={`M0 0H${width}M0 ${height / 2}H${width}M0 ${height}H${width}`}
          />
          {rateNames.map((name) => (
            <path
              key={name}
              class={`overview-line ${name}`}
              d={curvePath(rates[name], { width, height, max })}
            />
          ))}
        </svg>
        <div class="overview-axis soft" aria-hidden="true">
          {[0, 20, 40, rates.received.length].map((index) => (
            <span key={index}>{dateTime(minuteAt(startMs, index), 'minutes').slice(11)}</span>
          ))}
        </div>
      </div>
      {unknown !== 0 && (
        <p class="soft">
          Nothing is known from before the service was started, <Time at={facts.since} as="ago" />.
        </p>
      )}
      <RateTable rates={rates} startMs={startMs} />
    </section>
  )
}

/** Minutes that the service was not there for: not zero, but unknown. */
function UnknownPart({ rates, unknown }: { readonly rates: Rates; readonly unknown: number }) {
  const last = rates.received.length - 1
  const share = unknown === -1 ? 1 : unknown / last
  return <rect class="overview-unknown" x="0" y="0" width={width * share} height={height} />
}

function RateTable({ rates, startMs }: { readonly rates: Rates; readonly startMs: number }) {
  return (
    <details class="overview-figures">
      <summary>Figures</summary>
      <div class="table-wrap">
        <table class="data">
          <caption class="visually-hidden">Readings a second, newest minute first</caption>
          <thead>
            <tr>
              <th scope="col">Minute</th>
              {rateNames.map((name) => (
                <th key={name} scope="col" class="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rates.received
              .map((_, index) => index)
              .toReversed()
              .map((index) => (
                <tr key={index}>
                  <td>
                    <Time at={minuteAt(startMs, index)} />
                  </td>
                  {rateNames.map((name) => (
                    <td key={name} class="number">
                      {shown(rates[name][index])}
                    </td>
                  ))}
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}

function shown(value: number | null | undefined): string {
  return value === null || value === undefined ? 'unknown' : rate(value)
}
