import { percentile } from "../../e2e/load/statistics.ts";

/** Lines over a few sizes. Sizes stand at equal distances: those measured here double, or grow tenfold. */
export interface Chart {
  readonly title: string;
  readonly xLabel: string;
  readonly x: readonly number[];
  readonly series: readonly { readonly name: string; readonly y: readonly number[] }[];
}

/** A row of dots, one for each round, in seconds. */
export interface DotRow {
  readonly name: string;
  readonly series: string;
  readonly values: readonly number[];
}

export interface Dots {
  readonly title: string;
  readonly rows: readonly DotRow[];
}

/** Told apart by those who do not see all colours (Okabe and Ito). */
const colours = ["#666666", "#0072b2", "#009e73", "#d55e00", "#cc79a7", "#e69f00"];
const width = 420;
const height = 260;
const margin = { left: 46, right: 14, top: 30, bottom: 38 };
const inner = { width: width - margin.left - margin.right, height: height - margin.top - margin.bottom };

/** An SVG with all panels, two in a row, and one legend for all lines and dots. */
export function plot(charts: readonly Chart[], dots: Dots): string {
  const names = [
    ...new Set([
      ...charts.flatMap(({ series }) => series.map(({ name }) => name)),
      ...dots.rows.map((row) => row.series),
    ]),
  ];
  const colourOf = (name: string) => colours[names.indexOf(name) % colours.length] ?? "";
  const panels = [...charts.map((chart) => lines(chart, colourOf)), dotPanel(dots, colourOf)];
  const rows = Math.ceil(panels.length / 2);
  const legendHeight = 20 * Math.ceil(names.length / 2) + 10;
  const total = { width: 2 * width, height: rows * height + legendHeight };
  const legend = names.map((name, index) => {
    const x = margin.left + (index % 2) * width;
    const y = rows * height + 12 + 20 * Math.floor(index / 2);
    return `<rect x="${x}" y="${y - 5}" width="18" height="4" fill="${colourOf(name)}"/>${text(x + 26, y, name)}`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${total.width} ${total.height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${total.width}" height="${total.height}" fill="white"/>`,
    ...panels.map(
      (panel, index) =>
        `<g transform="translate(${(index % 2) * width} ${Math.floor(index / 2) * height})">\n${panel.join("\n")}\n</g>`,
    ),
    ...legend,
    "</svg>\n",
  ].join("\n");
}

function lines({ title, xLabel, x, series }: Chart, colourOf: (name: string) => string): string[] {
  const ticks = niceTicks(Math.max(...series.flatMap(({ y }) => y)));
  const top = ticks.at(-1) ?? 1;
  const atX = (index: number) => margin.left + (inner.width * index) / Math.max(1, x.length - 1);
  const atY = (value: number) => margin.top + inner.height * (1 - value / top);
  return [
    text(margin.left, 18, title, "start", "bold"),
    ...ticks.map(
      (tick) =>
        gridLine(margin.left, atY(tick), margin.left + inner.width, atY(tick)) +
        text(margin.left - 6, atY(tick) + 4, String(tick), "end"),
    ),
    ...x.map((value, index) => text(atX(index), margin.top + inner.height + 16, String(value), "middle")),
    text(margin.left + inner.width / 2, height - 8, xLabel, "middle"),
    ...series.map(({ name, y }) => {
      const points = y.map((value, index) => [round(atX(index)), round(atY(value))] as const);
      const colour = colourOf(name);
      return [
        `<polyline fill="none" stroke="${colour}" stroke-width="2" points="${points.map((point) => point.join(",")).join(" ")}"/>`,
        ...points.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3" fill="${colour}"/>`),
      ].join("");
    }),
  ];
}

/** Tenths of seconds and minutes are in one panel, so its scale is logarithmic; what is shorter is at its left edge. */
function dotPanel({ title, rows }: Dots, colourOf: (name: string) => string): string[] {
  const [least, most] = [0.1, 100];
  const left = 150;
  const right = width - margin.right;
  const atX = (seconds: number) => {
    const share = Math.log(Math.min(most, Math.max(least, seconds)) / least) / Math.log(most / least);
    return round(left + (right - left) * share);
  };
  const atY = (row: number) => round(margin.top + (inner.height * (row + 0.5)) / rows.length);
  return [
    text(margin.left, 18, title, "start", "bold"),
    ...[0.1, 1, 10, 100].map(
      (tick) =>
        gridLine(atX(tick), margin.top, atX(tick), margin.top + inner.height) +
        text(atX(tick), margin.top + inner.height + 16, String(tick), "middle"),
    ),
    text((left + right) / 2, height - 8, "seconds", "middle"),
    ...rows.map(({ name, series, values }, index) => {
      const colour = colourOf(series);
      const middle = atX(percentile(values, 0.5));
      return [
        // The same thing in several tunnels is named once.
        ...(rows[index - 1]?.name === name ? [] : [text(left - 8, atY(index) + 4, name, "end")]),
        ...values.map(
          (value) => `<circle cx="${atX(value)}" cy="${atY(index)}" r="3.5" fill="${colour}" fill-opacity="0.5"/>`,
        ),
        `<rect x="${round(middle - 1)}" y="${round(atY(index) - 8)}" width="2" height="16" fill="${colour}"/>`,
      ].join("");
    }),
  ];
}

/** From 0 to the first round number that is not below the highest value. */
export function niceTicks(highest: number): number[] {
  const power = 10 ** Math.floor(Math.log10(highest / 4));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => highest / one <= 5) ?? 10 * power;
  return Array.from({ length: Math.ceil(highest / step) + 1 }, (_, index) => Number((index * step).toPrecision(6)));
}

const round = (value: number) => Number(value.toFixed(1));

const gridLine = (x1: number, y1: number, x2: number, y2: number) =>
  `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" stroke="#dddddd"/>`;

function text(x: number, y: number, content: string, anchor = "start", weight = "normal"): string {
  const escaped = content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" font-weight="${weight}" fill="#222222">${escaped}</text>`;
}
