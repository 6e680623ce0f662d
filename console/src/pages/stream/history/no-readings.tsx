import { serviceNowMs } from '../../../api/service-clock.ts'
import { Empty } from '../../../components/states.tsx'
import { paths } from '../../../routing/paths.ts'
import { useQuery } from '../../../routing/query.ts'
import type { StreamDefinition } from '../stream-definition.ts'
import { type ChosenRange, widerRange } from './range.ts'

export interface NoReadingsProps {
  readonly stream: StreamDefinition
  readonly range: ChosenRange
}

/** Why a range is empty, and the next step: a wider one, or to send the first reading. */
export function NoReadings({ stream: { streamId, status }, range }: NoReadingsProps) {
  const query = useQuery()
  const wider = widerRange(range, serviceNowMs())
  return (
    <Empty title="No readings in this range">
      {status === 'created' ? (
        <p>
          The stream has received nothing yet.{' '}
          <a href={paths.stream(streamId, 'access')}>How to send to it</a>
        </p>
      ) : (
        <p>
          There may be some before or after it.{' '}
          <a href={query.linkTo(wider.words)}>Show {wider.says}</a>
        </p>
      )}
    </Empty>
  )
}
