// Draws the charts from their tables, and renews the page. Without this script everything can still be read.
;(() => {
  const charts = new Map()

  const numberOf = (cell) => Number(cell.dataset.value)
  /** The value of a colour property in the current colour scheme. */
  const colorOf = (name, element) => {
    element.style.color = `var(${name})`
    return getComputedStyle(element).color
  }

  /** Reads a table: the names of its rows, and the heading and values of each further column. */
  function readTable(table) {
    const heads = [...table.tHead.rows[0].cells].slice(1).map((cell) => cell.textContent)
    const rows = [...table.tBodies[0].rows]
    return {
      labels: rows.map((row) => row.cells[0].textContent),
      series: heads.map((label, index) => ({ label, data: rows.map((row) => numberOf(row.cells[index + 1])) })),
    }
  }

  function drawChart(figure) {
    const table = figure.querySelector('table')
    const place = figure.querySelector('.canvas')
    if (!table || !place || !globalThis.Chart) return
    const { labels, series } = readTable(table)
    const colors = series.map((_, index) => colorOf(`--chart-${(index % 8) + 1}`, place))
    const [ink, line] = ['--muted', '--line'].map((name) => colorOf(name, place))
    const canvas = document.createElement('canvas')
    canvas.setAttribute('role', 'img')
    canvas.setAttribute('aria-label', figure.querySelector('figcaption').textContent)
    place.replaceChildren(canvas)
    place.hidden = false
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches || charts.has(figure.id)
    charts.get(figure.id)?.destroy()
    const number = new Intl.NumberFormat(document.documentElement.lang, { notation: 'compact' })
    charts.set(
      figure.id,
      new globalThis.Chart(canvas, {
        type: 'bar',
        data: {
          labels,
          datasets: series.map((each, index) => ({ ...each, backgroundColor: colors[index], borderRadius: 2 })),
        },
        options: {
          animation: isCalm ? false : { duration: 300 },
          maintainAspectRatio: false,
          locale: document.documentElement.lang,
          interaction: { mode: 'index', intersect: false },
          plugins: {
            legend: {
              display: series.length > 1,
              align: 'end',
              labels: { color: ink, boxWidth: 10, boxHeight: 10 },
            },
          },
          scales: {
            x: {
              stacked: true,
              grid: { display: false },
              border: { color: line },
              ticks: { color: ink, maxRotation: 0, autoSkipPadding: 16 },
            },
            y: {
              stacked: true,
              beginAtZero: true,
              border: { display: false },
              grid: { color: line },
              ticks: { color: ink, maxTicksLimit: 5, callback: (value) => number.format(value) },
            },
          },
        },
      }),
    )
  }

  function drawCharts() {
    for (const figure of document.querySelectorAll('figure.chart')) drawChart(figure)
  }

  /** Replaces a part by its new version. @returns whether it has charts; undefined if the focus is in the old part */
  function renewPart(fresh) {
    const old = document.getElementById(fresh.id)
    if (!old || old.contains(document.activeElement)) return undefined
    const opened = [...old.querySelectorAll('details')].map((each) => each.open)
    const part = document.importNode(fresh, true)
    for (const [index, each] of part.querySelectorAll('details').entries()) each.open = opened[index] ?? false
    old.replaceWith(part)
    return part.querySelector('figure.chart') !== null
  }

  /** Shows the news that the database cannot be read on a page that has no verdict; removes it when that is over. */
  function showOutage(page) {
    const [old, fresh] = [document.getElementById('verdict'), page.getElementById('verdict')]
    const [notice, freshNotice] = [document.getElementById('silent'), page.getElementById('silent')]
    if (old === null && fresh !== null) notice.after(document.importNode(fresh, true))
    if (old !== null && fresh === null && freshNotice !== null) {
      old.remove()
      lastMarkup.delete('verdict')
    }
  }

  function parse(markup) {
    return new DOMParser().parseFromString(markup, 'text/html')
  }

  let isRenewing = false
  const lastMarkup = new Map()

  /** Requests the page again and renews the parts that have changed. */
  async function renew() {
    if (isRenewing || document.hidden) return
    isRenewing = true
    let isOurs = false
    try {
      const signal = AbortSignal.timeout(30_000)
      const answer = await fetch(location.href, { headers: { accept: 'text/html' }, signal })
      if (answer.status === 401) return location.reload()
      const page = parse(await answer.text())
      isOurs = page.getElementById('silent') !== null
      let hasCharts = false
      for (const part of page.querySelectorAll('[data-renew]')) {
        // This page was opened while the database could not be read.
        if (part.id !== 'verdict' && !document.getElementById(part.id)) return location.reload()
        const markup = part.outerHTML
        if (lastMarkup.get(part.id) === markup) continue
        const renewed = renewPart(part)
        if (renewed === undefined) continue
        lastMarkup.set(part.id, markup)
        hasCharts ||= renewed
      }
      if (hasCharts) drawCharts()
      showOutage(page)
      // The error page of a proxy, while the server restarts, has no such value.
      document.body.dataset.renewSeconds = page.body.dataset.renewSeconds ?? document.body.dataset.renewSeconds
    } catch {
      // The server cannot be reached; the next attempt may succeed.
    } finally {
      // Otherwise a page that stays open would show an old verdict as the present one.
      document.getElementById('silent').hidden = isOurs
      isRenewing = false
    }
  }

  function scheduleRenewal() {
    const seconds = Number(document.body.dataset.renewSeconds)
    if (seconds > 0) setTimeout(() => void renew().finally(scheduleRenewal), seconds * 1000)
  }

  for (const part of document.querySelectorAll('[data-renew]')) lastMarkup.set(part.id, part.outerHTML)
  drawCharts()
  scheduleRenewal()
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawCharts)
  document.addEventListener('visibilitychange', () => void renew())
})()
