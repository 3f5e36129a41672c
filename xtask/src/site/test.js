// Tests the site in a browser, at the widths of a phone and a desktop, light and dark: node test.js BROWSER SITE PICTURES.
import assert from "node:assert";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [browserName, site, pictures] = process.argv.slice(2);
// Pages of which pictures are saved: the start page, a guide, a page with charts, and one with wide tables.
const PICTURES = ["index", "docs/pypi-proxy", "docs/benchmarks/json", "BENCHMARKS"];
const CHART = "docs/benchmarks/json.html";

const address = (name) => pathToFileURL(path.join(site, name)).href;
const files = fs.readdirSync(site, { recursive: true });
const pages = files.filter((name) => name.endsWith(".html") && name !== "toc.html");

const executablePath = execFileSync("sh", ["-c", 'command -v "$1"', "sh", browserName], { encoding: "utf8" }).trim();
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
for (const width of [360, 1280]) {
  for (const colorScheme of ["light", "dark"]) {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 800 } });
    // The gate compiles at the same time.
    context.setDefaultTimeout(120_000);
    const page = await context.newPage();
    const errors = [];
    page.on("pageerror", (error) => errors.push(error));
    // Leaving a page aborts the request of its icon.
    const isAborted = (request) => request.failure().errorText === "net::ERR_ABORTED";
    page.on("requestfailed", (request) => isAborted(request) || errors.push(request.url()));
    page.on("request", (request) => request.url().startsWith("http") && errors.push(request.url()));
    if (colorScheme === "light") {
      await testPages(page);
    }
    await testSearch(page);
    await testNavigation(page, width);
    await takePictures(page, `${width}-${colorScheme}`);
    assert.deepEqual(errors, []);
    await context.close();
  }
}
await browser.close();
console.log(`${pages.length} pages`);

// Nothing but tables and code scrolls sideways, and charts are visible.
async function testPages(page) {
  for (const name of pages) {
    await page.goto(address(name));
    const { overflowing, charts } = await page.evaluate(() => ({
      overflowing: ["html", "body", "#mdbook-content"].filter((selector) => {
        const element = document.querySelector(selector);
        return element.scrollWidth > element.clientWidth;
      }),
      charts: [...document.querySelectorAll("main label > img")].map((image) => image.naturalWidth && image.width),
    }));
    assert.deepEqual(overflowing, [], `${name} is too wide`);
    assert(charts.every((width) => width > 250), `widths of charts on ${name}: ${charts}`);
    assert(charts.length > 0 || name !== CHART, `${name} has no charts`);
  }
}

async function testSearch(page) {
  await page.goto(address("index.html"));
  await page.click("#mdbook-search-toggle");
  await page.locator("#mdbook-searchbar").pressSequentially("backpressure");
  await page.locator("#mdbook-searchresults a").first().click();
  await page.locator("main mark").first().waitFor();
}

async function testNavigation(page, width) {
  await page.goto(address("index.html"));
  if (width < 600) {
    await page.click("#mdbook-sidebar-toggle");
  }
  await page.locator("#mdbook-sidebar a", { hasText: "Settings" }).click();
  await page.waitForURL(/pypi-proxy-config/);
}

async function takePictures(page, suffix) {
  for (const name of PICTURES) {
    const file = path.join(pictures, `${path.basename(name)}-${suffix}`);
    await page.goto(address(`${name}.html`));
    await page.screenshot({ path: `${file}.png` });
    const table = page.locator("main table").first();
    if (await table.count()) {
      await table.evaluate((element) => element.scrollIntoView());
      await page.screenshot({ path: `${file}-table.png` });
    }
  }
}
