import { paths, withQuery } from '../routing/paths.ts'
import './tags.css'

/** Tags of a stream; each leads to the streams that have it. */
export function Tags({ tags }: { readonly tags: Readonly<Record<string, string>> }) {
  const entries = Object.entries(tags)
  if (entries.length === 0) return null
  return (
    <span class="tags">
      {entries.map(([name, value]) => (
        <a
          key={name}
          class="tag"
          href={withQuery(paths.streams, { [`tag.${name}`]: value })}
          title={`${name}=${value}`}
        >
          <bdi>
            {name}={value}
          </bdi>
        </a>
      ))}
    </span>
  )
}
