import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'

export interface PageProps {
  readonly title: string
  /** What stands beside the title. */
  readonly beside?: ComponentChildren
  readonly children: ComponentChildren
}

/** A page with its title, which is also that of the tab. */
export function Page({ title, beside, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Streamvault`
  }, [title])
  return (
    <>
      <div class="page-head">
        <h1>
          <bdi>{title}</bdi>
        </h1>
        {beside}
      </div>
      {children}
    </>
  )
}
